import HTTPServer
import JSON

/// Answers as the App Store Server API gives them.
enum SimulatedAPIResponse {
  static func json(_ object: JSONObject) -> HTTPResponse { .json(200, object.encoded()) }

  /// Of operations that have nothing to tell.
  static let empty = HTTPResponse(status: 200)

  static func refusal(_ code: APIErrorCode) -> HTTPResponse {
    let body: JSONObject = ["errorCode": .integer(code.rawValue), "errorMessage": .string(code.message)]
    return .json(code.status, body.encoded())
  }

  /// Apple gives no reason, and no body at all.
  static let unauthorized = HTTPResponse(status: 401)
}
