package import Adapter
package import Ledger
package import Purchases
import Signing
package import Time
import Wire

/// Decides what is to be written for a message: read by the adapter, then held against the registered apps.
///
/// It writes nothing and asks nobody: the same for a request, a replay from quarantine and a rebuild.
package struct Intake: Sendable {
  private let adapter: Adapter

  package init(adapter: Adapter) { self.adapter = adapter }

  /// An entry, with what the reading found that was new to this build.
  package struct Decision: Sendable {
    package let entry: Entry
    /// Nil for what goes to quarantine.
    package let reading: Reading?
    package let refusal: Refusal?
  }

  /// What to write for a notification; throws only for what is not even JSON or a JWS.
  ///
  /// - Parameters:
  ///   - pathApp: the bundle id in the URL, when Apple was given one with it.
  ///   - claimedApp: of a message that was set aside: whose it was then said to be. It stands for the URL of a V1 body.
  package func notification(
    _ message: InboxMessage, pathApp: String? = nil, claimedApp: String? = nil, directory: AppDirectory,
    now: Milliseconds
  ) throws(Refusal) -> Decision {
    let legacyBody = Adapter.legacyBody(message.body)
    do throws(Refusal) {
      let sender = try legacyBody.map { body throws(Refusal) in
        try LegacySender(body, pathApp: pathApp ?? claimedApp, in: directory)
      }
      let origin = sender.map { Self.origin(of: message, app: $0.app.bundleID) }
      let reading = try adapter.notification(message.body, message: message.digest, origin: origin, now: now)
      let app = try app(of: reading, pathApp: pathApp, in: directory)
      var entry = Self.entry(message, reading, app)
      entry.addressee = directory.addressee(
        app, reading.environment, at: now, proof: ProofClass(reading.trust))
      return Decision(entry: entry, reading: reading, refusal: nil)
    } catch {
      guard let kept = error.quarantine else { throw error }
      // Whatever is wrong with a V1 body, nothing about it is signed.
      let source = legacyBody == nil ? kept : .legacy
      let refusal = Entry.Refusal(
        source: source, code: error.code, detail: error.detail, claimedApp: error.claimedApp ?? pathApp)
      // The app's own back end hears it all the same, as it would have without us, unless the app's policy is against it.
      let sender = ClaimedSender(ofNotification: message.body)
      var entry = Entry(message, .quarantined(refusal))
      if let app = (pathApp ?? error.claimedApp ?? sender.app).flatMap({ directory[$0] }),
        let environment = sender.environment, directory.forwardsUnproven(app)
      {
        entry.addressee = directory.addressee(app, environment, at: now, proof: .unproven)
      }
      return Decision(entry: entry, reading: nil, refusal: error)
    }
  }

  /// What to write for evidence that the back end of `app` hands in; what is refused is its own to mend, and not kept.
  package func evidence(_ message: InboxMessage, app: App, now: Milliseconds) throws(Refusal) -> Decision {
    let reading = try adapter.evidence(
      message.body, app: app.bundleID, environment: message.claim?.environment, userID: message.claim?.userID,
      message: message.digest, now: now)
    try Self.compare(reading, app)
    return Decision(entry: Self.entry(message, reading, app), reading: reading, refusal: nil)
  }

  /// Who sent a V1 body, as it is told to the adapter; a rebuild says the same of what is in the inbox.
  package static func origin(of message: InboxMessage, app: String) -> LegacyOrigin {
    LegacyOrigin(app: app, environment: nil, trust: .sharedSecret, receivedAt: message.receivedAt)
  }

  /// What to write for Apple's answer to a verifyReceipt call about `app`.
  ///
  /// Nobody hands it in again: what cannot be read is set aside with its reason. The message's claim names the
  /// environment whose endpoint answered, for answers of the oldest shape do not say.
  package func verifyReceiptAnswer(_ message: InboxMessage, app: App, now: Milliseconds) -> Decision {
    do throws(Refusal) {
      let reading = try adapter.answer(
        message.body, app: app.bundleID, environment: message.claim?.environment, message: message.digest, now: now)
      try Self.compare(reading, app)
      return Decision(entry: Self.entry(message, reading, app), reading: reading, refusal: nil)
    } catch {
      let refusal = Entry.Refusal(
        source: .fetched, code: error.code, detail: error.detail, claimedApp: app.bundleID)
      return Decision(entry: Entry(message, .quarantined(refusal)), reading: nil, refusal: error)
    }
  }

  /// The environment in which Apple was asked for an answer about `app` that was set aside.
  ///
  /// Builds before this one did not write it beside the message; the message's digest covers it, and so tells it.
  package static func askedEnvironment(of message: InboxMessage, app: App) -> Environment? {
    if let environment = message.claim?.environment { return environment }
    return Environment.allCases.first { environment in
      let identity = Adapter.identity(ofEvidence: message.body, app: app.bundleID, environment: environment)
      return Digest.sha256(identity) == message.digest
    }
  }

  /// What to write for an answer of the App Store Server API to a question of ours about `app`.
  ///
  /// What cannot be read is set aside with its reason.
  package func apiAnswer(_ message: InboxMessage, app: App, environment: Environment?, now: Milliseconds) -> Decision {
    do throws(Refusal) {
      let reading = try adapter.apiAnswer(
        message.body, app: app.bundleID, environment: environment, message: message.digest, now: now)
      try Self.compare(reading, app)
      return Decision(entry: Self.entry(message, reading, app), reading: reading, refusal: nil)
    } catch {
      let refusal = Entry.Refusal(
        source: .fetched, code: error.code, detail: error.detail, claimedApp: app.bundleID)
      return Decision(entry: Entry(message, .quarantined(refusal)), reading: nil, refusal: error)
    }
  }

  private static func entry(_ message: InboxMessage, _ reading: Reading, _ app: App) -> Entry {
    Entry(
      message,
      .accepted(
        Entry.Acceptance(
          message, app: app.id, findings: reading.findings, signedAt: reading.signedAt, title: reading.title)))
  }

  private func app(of reading: Reading, pathApp: String?, in directory: AppDirectory) throws(Refusal) -> App {
    if let pathApp, pathApp != reading.app {
      throw Refusal(
        .authentic, .wrongBundle, "it is of \(reading.app), the URL is for another app", claimedApp: reading.app)
    }
    guard let app = directory[reading.app] else {
      throw Refusal(
        .authentic, .unknownApp, "the app \(reading.app) is not registered; `switchyard app add` it, then replay",
        claimedApp: reading.app)
    }
    if reading.environment == .production, reading.appAppleID != nil, app.appAppleID == nil {
      throw Refusal(
        .authentic, .appAppleIdNotRegistered,
        "Production, and no Apple id is registered for \(reading.app); `switchyard app add --app-apple-id`, then replay",
        claimedApp: reading.app)
    }
    try Self.compare(reading, app)
    return app
  }

  private static func compare(_ reading: Reading, _ app: App) throws(Refusal) {
    guard let seen = reading.appAppleID, let registered = app.appAppleID, seen != registered else { return }
    throw Refusal(
      .authentic, .wrongAppAppleId, "appAppleId is \(seen), registered is \(registered)", claimedApp: reading.app)
  }
}

extension Refusal {
  /// Whose quota it counts against, by what vouches for the message; nil for what is not worth keeping.
  package var quarantine: QuarantineSource? {
    switch kind {
    case .unreadable: nil
    case .unproven: .unproven
    case .authentic: .authentic
    case .legacy: .legacy
    }
  }
}

extension ProofClass {
  /// The class of a message for which this vouches.
  init(_ trust: Adapter.Trust) {
    self =
      switch trust {
      case .signature, .apple: .proven
      // A receipt inside a V1 body is Apple's; what the body says around it is not.
      case .receipt, .sharedSecret: .claimed
      case .none: .unproven
      }
  }
}

extension AppDirectory {
  /// For whose endpoints a message is, by the stage as it is known here; the commit compares its epoch.
  fileprivate func addressee(
    _ app: App, _ environment: Environment, at now: Milliseconds, proof: ProofClass
  ) -> Entry.Addressee {
    let scope = Ledger.Scope(app: app.id, environment: environment)
    return Entry.Addressee(scope, epoch: flag(of: scope)?.epoch, at: now, proof: proof)
  }
}
