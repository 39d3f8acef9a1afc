import JSON
package import Purchases
package import Signing

/// The bytes whose SHA-256 identifies a message.
///
/// Signatures count in their low form (`CanonicalSignature`), so both valid signatures give the same identity.
package struct MessageIdentity: Sendable {
  package let bytes: [UInt8]

  /// Creates the identity of a notification.
  ///
  /// For V2 it is only the JWS, so that different wrappings give one message. For a V1 body it is the whole content,
  /// including the shared secret, so that a copy with another secret differs. Otherwise it is the body.
  package init(ofNotification body: ReceivedBody) {
    switch body.told {
    case .success(.notificationV2(let jws)): bytes = CanonicalSignature.low.applied(toJWS: jws)
    case .success(.notificationV1(let object)): bytes = object.encoded()
    case .success(.jws), .success(.receipt), .success(.object), .failure:
      bytes = CanonicalSignature.low.applied(to: body.bytes).text
    }
  }

  package init(ofNotification body: [UInt8]) { self.init(ofNotification: ReceivedBody(body)) }

  /// Creates the identity of evidence and responses: the body, and the caller's values that the body lacks.
  package init(ofEvidence body: [UInt8], app: String, environment: Environment?, userID: String? = nil) {
    let (low, _) = CanonicalSignature.low.applied(to: body)
    let claim = "\n\(app)\n\(environment?.rawValue ?? "")" + (userID.map { "\n\($0)" } ?? "")
    // A page of a history has 80 KB: copy it once.
    var told: [UInt8] = []
    told.reserveCapacity(low.count + claim.utf8.count)
    told += low
    told += claim.utf8
    bytes = told
  }

  package var digest: Digest { .sha256(bytes) }
}
