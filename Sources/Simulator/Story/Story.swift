package import Signing

/// The messages, good and bad, that some apps' servers receive, with their expected results.
///
/// A story is the same for the same seed and start; only signatures differ.
package struct Story: Sendable {
  /// The apps to register with the receiver.
  ///
  /// Messages of other apps are not its own.
  package let apps: [SimulatedApp]
  package private(set) var scenes: [Scene]

  package init(apps: [SimulatedApp], scenes: [Scene]) {
    self.apps = apps
    self.scenes = scenes
  }

  package enum Expectation: Hashable, Sendable {
    case stored
    /// Already known, byte for byte: accepted without a change.
    case duplicate
    /// Quarantined, with the code of the reason.
    case quarantined(String)
    /// Rejected, with the code of the reason.
    case refused(String)
  }

  package struct Scene: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
      case notification(NotificationDraft)
      /// The bytes of an earlier message again.
      case repetition(of: NotificationDraft)
      /// Signed with other certificates of the same names.
      case forgery(NotificationDraft)
      /// Changed after it was signed.
      case tampering(NotificationDraft)
      case bytes([UInt8])
    }

    package let caption: String
    package let content: Content
    package let expectation: Expectation

    package init(_ caption: String, _ content: Content, _ expectation: Expectation = .stored) {
      self.caption = caption
      self.content = content
      self.expectation = expectation
    }

    package var draft: NotificationDraft? {
      switch content {
      case .notification(let draft), .repetition(let draft), .forgery(let draft), .tampering(let draft): draft
      case .bytes: nil
      }
    }
  }

  package struct Message: Sendable {
    /// The number from 1.
    package let number: Int
    package let caption: String
    package let body: [UInt8]
    /// The content; `nil` unless it is a V2 notification.
    package let notification: SignedNotification?
    package let expectation: Expectation
  }

  /// Returns the messages, signed by `pki`; forgeries are signed by the untrusted `forger`.
  package func told(by pki: ApplePKI, forger: ApplePKI) throws(CertificateError) -> [Message] {
    let (apple, stranger) = (try PayloadSigner(pki), try PayloadSigner(forger))
    var signed: [NotificationDraft: SignedNotification] = [:]
    var messages: [Message] = []
    for (index, scene) in scenes.enumerated() {
      let body: [UInt8]
      var notification: SignedNotification?
      switch scene.content {
      case .notification(let draft), .repetition(let draft):
        let known = if let before = signed[draft] { before } else { try draft.signed(by: apple) }
        signed[draft] = known
        (notification, body) = (known, known.body)
      case .forgery(let draft):
        let forged = try draft.signed(by: stranger)
        (notification, body) = (forged, forged.body)
      case .tampering(let draft):
        let honest = try draft.signed(by: apple)
        (notification, body) = (honest, SignedNotification.body(signedPayload: Tampering.changed(honest.signedPayload)))
      case .bytes(let bytes): body = bytes
      }
      messages.append(
        Message(
          number: index + 1, caption: scene.caption, body: body, notification: notification,
          expectation: scene.expectation))
    }
    return messages
  }
}
