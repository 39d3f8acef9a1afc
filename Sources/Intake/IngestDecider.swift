package import Adapter
import JSON
package import Ledger
package import Purchases
package import Receipts
package import Time

/// Decides what is to be written for a message: read by the adapter, then held against the registered apps.
///
/// It writes nothing and asks nobody: the same for a request and for a replay from quarantine.
package struct IngestDecider: Sendable {
  private let adapter: MessageDecoder

  package init(adapter: MessageDecoder) { self.adapter = adapter }

  /// An entry, with what the reading found that was new to this build.
  package struct IngestDecision: Sendable {
    package let entry: LedgerEntry
    /// Nil for what goes to quarantine.
    package let reading: DecodedMessage?
    package let refusal: MessageError?
  }

  /// What to write for a notification; throws only for what is not even JSON or a JWS.
  ///
  /// If it is to be forwarded, then as of its arrival.
  ///
  /// - Parameters:
  ///   - pathApp: the bundle id in the URL, when Apple was given one with it.
  ///   - notedApp: of a message that was set aside: whose it was then said to be. It stands for the URL of a V1 body whose
  ///     shared secret does not tell.
  ///   - isFromApple: whether Apple may have posted it: then another app's secret keeps it from nobody.
  ///   - forwardsDenied: whether what is refused goes to the app's own back end although its policy is against it, because
  ///     an operator asks for it.
  package func notification(
    _ message: InboxMessage, _ body: ReceivedBody, pathApp: String? = nil, notedApp: String? = nil,
    isFromApple: Bool = false, forwardsDenied: Bool = false, directory: AppRegistrySnapshot
  ) throws(MessageError) -> IngestDecision {
    let legacyBody = body.legacyNotification
    do throws(MessageError) {
      let sender = try legacyBody.map { object throws(MessageError) in
        let sender = try V1SenderResolver(object, pathApp: pathApp, notedApp: notedApp, in: directory)
        try body.checkRows(app: sender.app.bundleID)
        try Self.checkIsSaidOnce(object, of: sender.app.bundleID, directory.secretFilter)
        return sender
      }
      let reading = try adapter.reading(of: message, body, app: sender?.app.bundleID)
        .mapTexts(directory.secretFilter.redacted)
      if sender != nil { try Self.checkIsOfTheStore(reading) }
      let app = try app(of: reading, pathApp: pathApp, in: directory)
      var entry = Self.entry(message, reading, app)
      entry.addressee = directory.addressee(
        app, reading.environment, at: message.receivedAt, proof: TrustLevel(reading.trust))
      return IngestDecision(entry: entry, reading: reading, refusal: nil)
    } catch let unread {
      // What is kept and logged of it; what is decided goes by what was received.
      let error = unread.withoutSecrets(directory.secretFilter)
      guard let kept = error.quarantine else { throw error }
      // Whatever is wrong with a V1 body, nothing about it is signed.
      let source = legacyBody == nil ? kept : .legacy
      let refusal = LedgerEntry.QuarantineReason(
        source: source, code: error.code, detail: error.detail,
        claimedApp: error.claimedApp ?? pathApp.map(directory.secretFilter.redacted))
      // The app's own back end hears it all the same, as it would have without us, unless the app's policy is against it.
      let sender = UnverifiedSender(ofNotification: body)
      var entry = LedgerEntry(message, .quarantined(refusal))
      if let app = (pathApp ?? unread.claimedApp ?? sender.app).flatMap({ directory[$0] }),
        let environment = sender.environment,
        isFromApple || legacyBody.map({ directory.isOfAnother($0, than: app) }) != true
      {
        let isSigned = legacyBody == nil && unread.isSigned(for: app)
        if isSigned || forwardsDenied || directory.forwardsUnproven(app) {
          entry.addressee = directory.addressee(
            app, environment, at: message.receivedAt, proof: isSigned ? .proven : .unproven)
        }
      }
      return IngestDecision(entry: entry, reading: nil, refusal: error)
    }
  }

  private static func checkIsSaidOnce(
    _ body: JSONObject, of app: String, _ secrets: SecretFilter
  ) throws(MessageError) {
    guard secrets.isRepeated(in: body) else { return }
    throw MessageError(
      .legacy, .secretRepeated, "it contains a shared secret elsewhere than under password: Apple writes it once",
      claimedApp: app)
  }

  /// What to write for a message about `app`: evidence that its back end hands in, or what Apple answered to a question.
  ///
  /// What is refused in evidence is the back end's own to mend, and not kept.
  ///
  /// - Parameter secrets: nil for Apple's own answers.
  package func decision(
    on message: InboxMessage, about app: App, secrets: SecretFilter? = nil
  ) throws(MessageError) -> IngestDecision {
    if let secrets, secrets.isFound(in: message.body) || message.body.contains(UInt8(ascii: "\\")),
      let object = ReceivedBody(kept: message.body).legacyNotification
    {
      try Self.checkIsSaidOnce(object, of: app.bundleID, secrets)
    }
    var reading = try adapter.reading(
      of: message, app: app.bundleID, environment: message.askedEnvironment(app: app.bundleID))
    if let secrets { reading = reading.mapTexts(secrets.redacted) }
    try Self.compare(reading, app)
    if let objection = reading.objection { throw objection }
    return IngestDecision(entry: Self.entry(message, reading, app), reading: reading, refusal: nil)
  }

  /// The same of a receipt that was proven already; `message` has its text as evidence.
  package func decision(
    on message: InboxMessage, _ receipt: ReceiptReadResult, about app: App
  ) throws(MessageError) -> IngestDecision {
    let reading = try adapter.evidence(
      receipt, app: app.bundleID, environment: message.askedEnvironment(app: app.bundleID),
      userID: message.claim?.userID, userSince: message.claim?.userSince, message: message.digest,
      now: message.receivedAt)
    try Self.compare(reading, app)
    if let objection = reading.objection { throw objection }
    return IngestDecision(entry: Self.entry(message, reading, app), reading: reading, refusal: nil)
  }

  /// Proves receipts, with the adapter's trust.
  package var receipts: ReceiptReader { adapter.receipts }

  /// What to write for a receipt that somebody posted to verifyReceipt; refused unless it is proven, and of `app`.
  ///
  /// - Parameters:
  ///   - text: the receipt alone, in base64: no password, and nothing else of the request.
  ///   - environment: of the endpoint that it was posted to.
  package func entry(
    forPostedReceipt text: [UInt8], about app: App, environment: Environment, receivedAt now: Timestamp
  ) throws(MessageError) -> IngestDecision {
    try decision(
      on: InboxMessage(
        .verifiedReceipt, text, app: app.bundleID, claim: SubmissionMetadata(environment: environment), receivedAt: now),
      about: app)
  }

  /// What to write for Apple's answer about `app`, to a verifyReceipt call or to a question of ours.
  ///
  /// Nobody hands it in again: what cannot be read is set aside with its reason.
  package func answer(_ message: InboxMessage, about app: App) -> IngestDecision {
    do throws(MessageError) { return try decision(on: message, about: app) } catch {
      let refusal = LedgerEntry.QuarantineReason(
        source: .fetched, code: error.code, detail: error.detail, claimedApp: app.bundleID)
      return IngestDecision(entry: LedgerEntry(message, .quarantined(refusal)), reading: nil, refusal: error)
    }
  }

  private static func entry(_ message: InboxMessage, _ reading: DecodedMessage, _ app: App) -> LedgerEntry {
    LedgerEntry(
      message,
      .accepted(
        LedgerEntry.AcceptedMessage(
          app: app.id, findings: reading.findings, signedAt: reading.signedAt, title: reading.title)),
      proof: TrustLevel(reading.trust))
  }

  private func app(of reading: DecodedMessage, pathApp: String?, in directory: AppRegistrySnapshot) throws(MessageError)
    -> App
  {
    if let pathApp, pathApp != reading.app {
      throw MessageError(
        .authentic, .wrongBundle, "it is of \(reading.app), the URL is for another app", claimedApp: reading.app)
    }
    guard let app = directory[reading.app] else {
      throw MessageError(
        .authentic, .unknownApp, "the app \(reading.app) is not registered; `switchyard app add` it, then replay",
        claimedApp: reading.app)
    }
    if reading.environment == .production, reading.appAppleID != nil, app.appAppleID == nil {
      throw MessageError(
        .authentic, .appAppleIdNotRegistered,
        "Production, and no Apple id is registered for \(reading.app); `switchyard app add --app-apple-id`, then replay",
        claimedApp: reading.app)
    }
    try Self.compare(reading, app)
    return app
  }

  /// Refuses a V1 notification of an environment that sends none.
  private static func checkIsOfTheStore(_ reading: DecodedMessage) throws(MessageError) {
    switch reading.environment {
    case .production, .sandbox: return
    case .xcode, .localTesting:
      throw MessageError(
        .legacy, .environmentUnknown, "it says \(reading.environment.rawValue), from where Apple sends no notification",
        claimedApp: reading.app)
    }
  }

  private static func compare(_ reading: DecodedMessage, _ app: App) throws(MessageError) {
    guard let seen = reading.appAppleID, let registered = app.appAppleID, seen != registered else { return }
    throw MessageError(
      .authentic, .wrongAppAppleId, "appAppleId is \(seen), registered is \(registered)", claimedApp: reading.app)
  }
}

extension MessageError {
  /// Whether a V2 notification that is refused is signed by Apple, and is of this app: no stranger made it, whatever else is
  /// wrong with it.
  package func isSigned(for app: App) -> Bool { kind == .authentic && claimedApp == app.bundleID }

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

extension TrustLevel {
  /// The class of a message for which this vouches.
  init(_ trust: MessageDecoder.Proof) {
    self =
      switch trust {
      case .signature, .apple: .proven
      // A receipt inside a V1 body is Apple's; what the body says around it is not.
      case .receipt, .sharedSecret: .claimed
      case .none: .unproven
      }
  }
}

extension AppRegistrySnapshot {
  /// For whose endpoints a message is, by what becomes of notifications as it is known here; the commit compares its epoch.
  fileprivate func addressee(
    _ app: App, _ environment: Environment, at now: Timestamp, proof: TrustLevel
  ) -> LedgerEntry.DeliveryTarget {
    let scope = AppScope(app: app.id, environment: environment)
    return LedgerEntry.DeliveryTarget(scope, epoch: flag(of: scope)?.recordingEpoch, at: now, proof: proof)
  }
}
