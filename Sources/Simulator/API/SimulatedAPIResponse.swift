import HTTPServer
import JSON

/// The responses of the App Store Server API.
enum SimulatedAPIResponse {
  static func json(_ object: JSONObject) -> HTTPResponse { .json(200, object.encoded()) }

  /// The response of operations without a result.
  static let empty = HTTPResponse(status: 200)

  static func refusal(_ code: APIErrorCode) -> HTTPResponse {
    let body: JSONObject = ["errorCode": .integer(code.rawValue), "errorMessage": .string(code.message)]
    return .json(code.status, body.encoded())
  }

  /// The 401 response, for which Apple sends no reason and no body.
  static let unauthorized = HTTPResponse(status: 401)
}
