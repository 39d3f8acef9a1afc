import HTTPServer
import JSON

enum SimulatedAPIResponse {
  static func json(_ object: JSONObject) -> HTTPResponse { .json(200, object.encoded()) }

  static let empty = HTTPResponse(status: 200)

  static func refusal(_ code: APIErrorCode) -> HTTPResponse {
    let body: JSONObject = ["errorCode": .integer(code.rawValue), "errorMessage": .string(code.message)]
    return .json(code.status, body.encoded())
  }

  /// The 401 response, for which Apple sends no reason and no body.
  static let unauthorized = HTTPResponse(status: 401)
}
