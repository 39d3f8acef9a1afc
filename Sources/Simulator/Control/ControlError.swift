import HTTPServer
import JSON

struct ControlError: Error, Equatable {
  enum Code: String, Sendable, CaseIterable {
    case notFound, methodNotAllowed, notJSON, missingValue, invalidValue, tooMany
    case refused
  }

  let code: Code
  let detail: String

  init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  static func == (a: Self, b: Self) -> Bool { a.code == b.code }

  var response: HTTPResponse {
    let status =
      switch code {
      case .notFound: 404
      case .methodNotAllowed: 405
      case .notJSON, .missingValue, .invalidValue: 400
      case .tooMany, .refused: 409
      }
    let body: JSONObject = ["error": .string(code.rawValue), "message": .string(detail)]
    return .json(status, body.encoded())
  }
}
