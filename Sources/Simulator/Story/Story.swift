package import Signing

/// What some apps' servers receive from the first message to the last, good and bad, and what is to become of each.
///
/// A story is the same for the same seed and start; only signatures differ, when it is told.
package struct Story: Sendable {
  /// Registered with whoever receives the messages; messages of other apps are none of theirs.
  package let apps: [SimulatedApp]
  /// In the order of arrival.
  package private(set) var scenes: [Scene]

  package init(apps: [SimulatedApp], scenes: [Scene]) {
    self.apps = apps
    self.scenes = scenes
  }

  /// What is to become of a message.
  package enum Expectation: Hashable, Sendable {
    case stored
    /// Known already, byte for byte: accepted, nothing changes.
    case duplicate
    /// Kept aside, with the code of the reason.
    case quarantined(String)
    /// Not accepted, with the code of the reason.
    case refused(String)
  }

  /// One message before it is signed.
  package struct Scene: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
      case notification(NotificationDraft)
      /// The bytes of an earlier message once more.
      case repetition(of: NotificationDraft)
      /// Signed by somebody whose certificates bear the same names.
      case forgery(NotificationDraft)
      /// Changed after it was signed.
      case tampering(NotificationDraft)
      case bytes([UInt8])
    }

    /// What happens, in a sentence for people.
    package let caption: String
    package let content: Content
    package let expectation: Expectation

    package init(_ caption: String, _ content: Content, _ expectation: Expectation = .stored) {
      self.caption = caption
      self.content = content
      self.expectation = expectation
    }

    /// The notification that it is, or pretends to be.
    package var draft: NotificationDraft? {
      switch content {
      case .notification(let draft), .repetition(let draft), .forgery(let draft), .tampering(let draft): draft
      case .bytes: nil
      }
    }
  }

  /// A message as it arrives.
  package struct Message: Sendable {
    /// From 1.
    package let number: Int
    package let caption: String
    package let body: [UInt8]
    /// What it means; nil for what is no V2 notification.
    package let notification: SignedNotification?
    package let expectation: Expectation
  }

  /// The messages, signed by `pki`; what is forged is signed by `forger`, whom nobody trusts.
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
