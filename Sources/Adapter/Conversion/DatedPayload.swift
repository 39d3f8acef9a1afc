import JSON
import Signing
import Time

/// A payload with its own date for mapping: verified, or unsigned on explicit request.
protocol DatedPayload {
  var payload: JSONObject { get }
  var signedAt: Timestamp? { get }
}

extension Verified: DatedPayload where Payload == JSONObject {}

/// A decoded, unverified payload: for inspection, never for storage.
struct UnsignedPayload: DatedPayload {
  let payload: JSONObject
  let signedAt: Timestamp?

  init(_ payload: JSONObject, as kind: PayloadKind) {
    self.payload = payload
    let name =
      switch kind {
      case .appTransaction: "receiptCreationDate"
      case .notification, .transaction, .renewal, .realtimeRequest: "signedDate"
      }
    signedAt = payload[name]?.milliseconds
  }
}
