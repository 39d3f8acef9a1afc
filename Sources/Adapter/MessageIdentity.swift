import JSON
package import Purchases
package import Signing

/// What makes two bodies one message: the bytes whose SHA-256 a message is known by.
///
/// Signatures count in their low form (`SignatureForm`), so a message is the same whichever of its two signatures
/// stands in it.
package struct MessageIdentity: Sendable {
  package let bytes: [UInt8]
  /// As builds before schema 5 had it, where that is not `bytes`: they took the signature as it came.
  ///
  /// Of a body with one signature both forms, so that a message of those builds is known however it comes now. Of an
  /// answer with several, which has 2ⁿ forms, the one that came: an answer of those builds that somebody hands in with
  /// other signatures is stored once more, and never again after that.
  package let former: [[UInt8]]

  /// Of a notification: the JWS alone, so that nobody can make many messages of one by wrapping it differently; of a V1
  /// body all but the shared secret, which may change while Apple tries again; else the body.
  package init(ofNotification body: ReceivedBody) {
    switch body.told {
    case .success(.notificationV2(let jws)):
      self.init(bytes: SignatureForm.low.applied(toJWS: jws), former: [SignatureForm.high.applied(toJWS: jws)])
    case .success(.notificationV1(var object)):
      object["password"] = nil
      self.init(bytes: object.encoded(), former: [])
    case .success(.jws), .success(.receipt), .success(.object), .failure: self.init(text: body.bytes)
    }
  }

  /// The same of a body that was kept: written anew, without its secrets, it may be longer than one that comes.
  package init(ofNotification body: [UInt8]) { self.init(ofNotification: ReceivedBody(rewritten: body)) }

  /// Of evidence and answers: the body, and what the caller says of it where it does not say so itself.
  package init(ofEvidence body: [UInt8], app: String, environment: Environment?, userID: String? = nil) {
    self.init(text: body, "\n\(app)\n\(environment?.rawValue ?? "")" + (userID.map { "\n\($0)" } ?? ""))
  }

  /// What a message is known by, and what by builds before schema 5.
  ///
  /// The two forms of a signature are at the end of a text that is the same: it is hashed once.
  package var digests: (own: Digest, former: Set<Digest>) {
    guard let other = former.first, former.count == 1 else {
      return (.sha256(bytes), Set(former.map(Digest.sha256)))
    }
    let (own, before) = Digest.sha256(bytes, and: other)
    return (own, [before])
  }

  private init(bytes: [UInt8], former: [[UInt8]]) { (self.bytes, self.former) = (bytes, former) }

  private init(text: [UInt8], _ claim: String = "") {
    let (low, signatures) = SignatureForm.low.applied(to: text)
    // A page of a history has 80 KB: copied once.
    func told(_ text: [UInt8]) -> [UInt8] {
      var identity: [UInt8] = []
      identity.reserveCapacity(text.count + claim.utf8.count)
      identity += text
      identity += claim.utf8
      return identity
    }
    let former =
      switch signatures {
      case 0: [[UInt8]]()
      case 1: [told(SignatureForm.high.applied(to: text).text)]
      default: text == low ? [] : [told(text)]
      }
    self.init(bytes: told(low), former: former)
  }
}
