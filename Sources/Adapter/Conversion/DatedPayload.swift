import JSON
import Signing
import Time

/// A payload with its own date, as it is mapped: verified, or unsigned where somebody asked for that in so many words.
protocol DatedPayload {
  var payload: JSONObject { get }
  var signedAt: Timestamp? { get }
}

extension Verified: DatedPayload where Payload == JSONObject {}

/// A decoded payload that nobody vouches for: to be looked at, never to be kept.
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
