package import Adapter
package import Ledger
import Signing

/// What is written beside a message, and payloads that are encoded in it.
extension HiddenSecrets {
  /// Whether a payload that is encoded in the body, as that of a JWS, has anything in it that is worth reading it for.
  ///
  /// - Parameter depth: how many JWS within one another are decoded, as many as in a stored body.
  package static func mayBe(encodedIn body: [UInt8], depth: Int = CompactBody.maximumDepth) -> Bool {
    payloads(in: body).contains { mayBe(in: $0) || depth > 1 && mayBe(encodedIn: $0, depth: depth - 1) }
  }

  /// The decoded payloads and signatures of everything that is written as a JWS is, `header.payload.signature`: stored,
  /// neither is encoded.
  ///
  /// - Parameter withHeaders: whether the headers are decoded too, and whatever else is written in these letters, as far as
  ///   it can be: nobody has said that it is a JWS.
  static func payloads(in bytes: [UInt8], withHeaders: Bool = false) -> [[UInt8]] {
    var payloads: [[UInt8]] = []
    var start = 0
    for place in 0...bytes.count where place == bytes.count || !isLetter(bytes[place]) {
      defer { start = place + 1 }
      guard place - start >= shortestEncoded, withHeaders || start > 0 && bytes[start - 1] == UInt8(ascii: ".") else {
        continue
      }
      if let payload = Base64.url.decode(bytes, in: start..<place) {
        payloads.append(payload)
      } else if withHeaders {
        // A letter that is over, or bits that mean nothing, are no place to hide.
        let whole = start..<(place - (place - start) % 4)
        if let payload = Base64.url.decode(bytes, in: whole) { payloads.append(payload) }
      }
    }
    return payloads
  }

  /// Letters of the shortest password that is told from any text, `password=x`.
  private static let shortestEncoded = 14

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

extension Refusal {
  /// Returns the refusal as it may be kept, logged and answered: what it quotes of the message may be a secret.
  package func withoutSecrets(_ secrets: SecretFilter) -> Refusal {
    var refusal = self
    refusal.detail = secrets.redacted(detail)
    refusal.claimedApp = claimedApp.map(secrets.redacted)
    return refusal
  }
}
