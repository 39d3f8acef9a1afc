import HTTPServer
import JSON
import Signing
import Time

/// An authorized call of the App Store Server API.
struct APICall: Sendable {
  let operation: APIOperation
  let parameters: [String]
  let request: HTTPRequest
  /// The app of the token, in the environment of the path.
  let place: SimulatedAppScope
  let signer: ResponseSigner
  /// The machine's time, by which limits count.
  let receivedAt: Timestamp

  func object() throws(APIErrorCode) -> JSONObject {
    guard let object = (try? JSONReader.read(request.body))?.object else { throw .generalBadRequest }
    return object
  }

  func signed(_ payload: JSONObject) throws(APIErrorCode) -> JSONValue {
    do { return try signer.text(payload) } catch { throw .generalInternal }
  }

  /// Returns a response, with unknown fields if a fault adds some.
  func answer(_ object: JSONObject) -> HTTPResponse { SimulatedAPIResponse.json(signer.extended(object)) }
}
