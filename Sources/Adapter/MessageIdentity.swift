import JSON
package import Purchases
package import Signing

/// What makes two bodies one message: the bytes whose SHA-256 a message is known by.
///
/// Signatures count in their low form (`CanonicalSignature`), so a message is the same whichever of its two signatures
/// stands in it.
package struct MessageIdentity: Sendable {
  package let bytes: [UInt8]

  /// Of a notification: the JWS alone, so that nobody can make many messages of one by wrapping it differently; of a V1
  /// body all that it says, the shared secret included: a copy with another one is another message; else the body.
  package init(ofNotification body: ReceivedBody) {
    switch body.told {
    case .success(.notificationV2(let jws)): bytes = CanonicalSignature.low.applied(toJWS: jws)
    case .success(.notificationV1(let object)): bytes = object.encoded()
    case .success(.jws), .success(.receipt), .success(.object), .failure:
      bytes = CanonicalSignature.low.applied(to: body.bytes).text
    }
  }

  package init(ofNotification body: [UInt8]) { self.init(ofNotification: ReceivedBody(body)) }

  /// Of evidence and answers: the body, and what the caller says of it where it does not say so itself.
  package init(ofEvidence body: [UInt8], app: String, environment: Environment?, userID: String? = nil) {
    let (low, _) = CanonicalSignature.low.applied(to: body)
    let claim = "\n\(app)\n\(environment?.rawValue ?? "")" + (userID.map { "\n\($0)" } ?? "")
    // A page of a history has 80 KB: copied once.
    var told: [UInt8] = []
    told.reserveCapacity(low.count + claim.utf8.count)
    told += low
    told += claim.utf8
    bytes = told
  }

  package var digest: Digest { .sha256(bytes) }
}
