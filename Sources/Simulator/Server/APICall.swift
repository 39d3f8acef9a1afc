import HTTPServer
import JSON
import Signing
import Time

/// An authorised call of the App Store Server API.
struct APICall: Sendable {
  let operation: APIOperation
  /// The parts of the path that vary.
  let parameters: [String]
  let request: HTTPRequest
  /// The app that the token speaks for, in the environment of the path.
  let place: SimulatedAppScope
  let signer: ResponseSigner
  /// By the machine's clock, as limits are.
  let receivedAt: Timestamp

  /// The body, where one is needed.
  func object() throws(APIErrorCode) -> JSONObject {
    guard let object = (try? JSONReader.read(request.body))?.object else { throw .generalBadRequest }
    return object
  }

  func signed(_ payload: JSONObject) throws(APIErrorCode) -> JSONValue {
    do { return try signer.text(payload) } catch { throw .generalInternal }
  }

  /// An answer with its unknown fields, if a fault adds some.
  func answer(_ object: JSONObject) -> HTTPResponse { SimulatedAPIResponse.json(signer.extended(object)) }
}
