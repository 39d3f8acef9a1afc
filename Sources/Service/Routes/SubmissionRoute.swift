import Adapter
import Database
import HTTPServer
package import Intake
import JSON
package import Ledger
import Purchases
package import Runtime
package import Seeding
import Signing
package import Time
import Wire

/// `POST /v1/evidence`: data that an app's back end or a new client has.
///
/// Idempotent; the bearer token identifies the app. 200 with the result once it is committed; 422 with the reason if
/// the data is unverified. With `wait=SECONDS` Apple is asked for the customer's history before the response, ahead of
/// bulk lookups. `history` reports the outcome, and `results` the data for each ID: the response to a restore.
package struct SubmissionRoute: Sendable {
  private let intake: IngestDecider
  private let ledger: LedgerStore
  private let commit: GroupCommit
  private let lookUps: PurchaseLookup
  private let seeding: HistoryJobWorker?
  private let registry: AppRegistry
  private let metrics: ServiceMetrics
  private let clock: WallClock
  private let logger: Logger
  /// Reads long bodies one at a time, because the threads that serve connections are Apple's too.
  private let reader = WorkerThread(label: "evidence bodies", longestLine: 32 << 20)

  package init(
    intake: IngestDecider, ledger: LedgerStore, commit: GroupCommit, lookUps: PurchaseLookup,
    seeding: HistoryJobWorker?, registry: AppRegistry,
    metrics: ServiceMetrics, clock: WallClock, logger: Logger
  ) {
    self.intake = intake
    self.ledger = ledger
    self.commit = commit
    self.lookUps = lookUps
    self.seeding = seeding
    self.registry = registry
    self.metrics = metrics
    self.clock = clock
    self.logger = logger
  }

  func respond(to request: HTTPRequest, app: App) async -> HTTPResponse {
    let start = ContinuousClock.now
    defer { metrics.receiveSeconds["evidence"].record(ContinuousClock.now - start) }
    var environment: Environment?
    if let name = request.queryValue("environment") {
      guard let known = Environment(rawValue: name) else { return .unknownEnvironment }
      environment = known
    }
    let wait: Interval
    do throws(HistoryWait.Unusable) { wait = try HistoryWait.limit(request.queryValue("wait")) } catch {
      return .error(400, "unusableWait", "wait is a number of seconds from 0 to \(HistoryWait.longest)")
    }
    let now = clock.now()
    let user = UserIDParameter(request.query)
    if user.isAmbiguous {
      metrics.messages["evidence", app.bundleID, "refused"].increment()
      metrics.refusals["evidence", "userIdContradicts"].increment()
      return .error(400, "userIdContradicts", "send the parameter userId once, in this spelling")
    }
    if let refusal = request.refusal(ofParametersBeside: ["environment", "wait", "userId"]) { return refusal }
    let claim = SubmissionMetadata(environment: environment, userID: user.id)
    let read: BodyReading
    if request.body.count > Self.short {
      let elsewhere = await reader.run(size: request.body.count) {
        self.read(request.body, of: user, claim, app: app, receivedAt: now)
      }
      guard let elsewhere else {
        // No client waits for the response.
        if Task.isCancelled { return .unavailable("cancelled", "the request was cancelled") }
        return .unavailable("overloaded", "too much evidence is waiting to be read; send it again in a moment")
      }
      read = elsewhere
    } else {
      read = self.read(request.body, of: user, claim, app: app, receivedAt: now)
    }
    let (message, decided): (InboxMessage, Result<IngestDecider.IngestDecision, MessageError>)
    switch read {
    case .namesSecret:
      metrics.messages["evidence", app.bundleID, "refused"].increment()
      metrics.refusals["evidence", "userIdIsSecret"].increment()
      logger.notice("evidence refused", metadata: ["reason": "userIdIsSecret", "app": "\(app.bundleID)"])
      return .error(
        400, "userIdIsSecret", "userId holds a shared secret; send your own id of the user instead")
    case .contradictsUser:
      metrics.messages["evidence", app.bundleID, "refused"].increment()
      metrics.refusals["evidence", "userIdContradicts"].increment()
      return .error(
        400, "userIdContradicts",
        "the body names a user, and the request does not name the same one; send the body without it")
    case .message(let read, let result): (message, decided) = (read, result)
    }
    do {
      let decision = try decided.get()
      try await requirePurchases(of: decision, app: app)
      if let findings = decision.reading?.findings, seeding?.isAsking(about: app) == true,
        try await !ledger.hasRoom(for: message, findings, of: app.id)
      {
        metrics.messages["evidence", app.bundleID, "refused"].increment()
        metrics.refusals["evidence", "tooManyUnverifiedIds"].increment()
        return .tooManyUnverifiedIDs
      }
      let appended = try await commit.append(decision.entry)
      metrics.messages["evidence", app.bundleID, appended.rawValue].increment()
      guard let reading = decision.reading else { return .error(500, "noReading", "the evidence was not read") }
      if appended == .duplicate { try await sayAgain(reading.findings, app, at: now) }
      metrics.count(reading.survey)
      var answer = Self.receipt(appended, reading, message)
      if answer["environment"] == .null { answer["environment"] = try await knownEnvironment(of: reading, app) }
      // It is committed, even if the count fails.
      if let users = (try? await manyUserIDs(of: reading, claim, app)) ?? nil {
        answer["manyUserIds"] = .integer(Int64(users))
        metrics.sharedPurchases[app.bundleID].increment()
      }
      if wait > .milliseconds(0) {
        await HistoryWait(seeding: seeding, ledger: ledger, lookUps: lookUps, clock: clock, logger: logger)
          .add(to: &answer, reading.findings, app: app, within: wait)
      }
      return .object(200, answer)
    } catch let unread as MessageError {
      let refusal = unread.withoutSecrets(registry.directory.secretFilter)
      metrics.messages["evidence", app.bundleID, "refused"].increment()
      metrics.refusals["evidence", refusal.code].increment()
      logger.notice(
        "evidence refused",
        metadata: ["reason": "\(refusal.code)", "detail": "\(refusal.detail)", "app": "\(app.bundleID)"])
      return .error(refusal.kind == .unreadable ? 400 : 422, refusal.code, refusal.detail)
    } catch let error as DatabaseError {
      logger.error("evidence not stored", metadata: ["error": "\(error)"])
      return .notWritten(.database(error))
    } catch let failure as GroupCommit.Failure {
      metrics.messages["evidence", app.bundleID, "failed"].increment()
      logger.error("evidence not stored", metadata: ["error": "\(failure)"])
      return .notWritten(failure)
    } catch {
      return .error(500, "unexpected", "the evidence could not be taken")
    }
  }

  /// Stores the owner again for purchases that another user owned meanwhile, such as two users that alternate on a
  /// device.
  ///
  /// The same evidence again is not a new message, so each ID becomes one, with the time. A back end resends after a
  /// lost response within minutes; until then the other user stays.
  private func sayAgain(_ findings: Findings, _ app: App, at now: Timestamp) async throws {
    let proven = findings.userIDs.filter { !$0.isClaimed }
    guard let user = proven.first?.value ?? findings.waitingUserIDs.first?.userID else { return }
    let ids = Set(proven.map(\.originalTransactionID) + findings.waitingUserIDs.map(\.transactionID))
    for (environment, passed) in try await ledger.passedOn(from: user, ids, of: app.id, before: now - Self.retried) {
      for id in passed.prefix(Self.mostSaidAgain) {
        let body: JSONObject = [
          "originalTransactionId": .string(id), "environment": .string(environment.rawValue),
          "saidAt": .integer(now.sinceEpoch),
        ]
        let message = InboxMessage(
          .evidence, body.encoded(), app: app.bundleID, claim: SubmissionMetadata(userID: user), receivedAt: now)
        _ = try await commit.append(try intake.decision(on: message, about: app).entry)
      }
    }
  }

  private static let mostSaidAgain = 100
  /// The time in which the same body may be a retry after a lost response.
  private static let retried = Interval.minutes(5)

  /// The number of user IDs of one purchase that is no longer one user with several logins, or a family.
  private static let manyUsers = 6

  /// Returns the number of user IDs submitted with the same purchases, if it is high: a shared receipt.
  private func manyUserIDs(of reading: DecodedMessage, _ claim: SubmissionMetadata, _ app: App) async throws -> Int? {
    // Only proven purchases: a sender that names another customer's ID learns nothing about it.
    let proven = reading.findings.purchases.filter(\.source.isSigned).map(\.key.originalTransactionID)
    let ids = Array(Set(proven).sorted().prefix(512))
    guard claim.userID != nil, !ids.isEmpty else { return nil }
    let scope = AppScope(app: app.id, environment: reading.environment)
    let users = try await ledger.pool.read { session throws(DatabaseError) in
      try AccountAssociationTable.userIDCount(of: ids, in: scope, atMost: 1_000, session)
    }
    return users > Self.manyUsers ? users : nil
  }

  private enum BodyReading: Sendable {
    case namesSecret
    case contradictsUser
    case message(InboxMessage, Result<IngestDecider.IngestDecision, MessageError>)
  }

  private static let short = 32 << 10

  /// Reads a body, which is slow for megabytes.
  private func read(
    _ body: [UInt8], of user: UserIDParameter, _ claim: SubmissionMetadata, app: App, receivedAt now: Timestamp
  ) -> BodyReading {
    if namesSecret(claim.userID, body) { return .namesSecret }
    if user.contradicts(body, limits: Self.limits) { return .contradictsUser }
    let message = InboxMessage(
      .evidence, body, app: app.bundleID, claim: claim, receivedAt: now)
    do throws(MessageError) {
      return .message(
        message, .success(try intake.decision(on: message, about: app, secrets: registry.directory.secretFilter)))
    } catch {
      return .message(message, .failure(error))
    }
  }

  private static let limits = JSONLimits(bytes: bodyLimit, depth: JSONLimits.standard.depth)

  /// Whether the user ID, in the request or the body, contains a secret, which would be stored in clear text.
  private func namesSecret(_ userID: String?, _ body: [UInt8]) -> Bool {
    let secrets = registry.directory.secretFilter
    if let userID, secrets.isHeld(by: userID) { return true }
    guard UserIDParameter.mayName(body), let object = try? JSONReader.read(body, limits: Self.limits).object else {
      return false
    }
    return object["userId"]?.looseText.map(secrets.isHeld) ?? false
  }

  /// Rejects a signed renewal of an unknown subscription.
  ///
  /// It names no app, so only a purchase identifies its owner. V1 renewals are in a body that names its app.
  private func requirePurchases(of decision: IngestDecider.IngestDecision, app: App) async throws {
    guard let findings = decision.reading?.findings else { return }
    let told = Set(findings.purchases.map(\.key.originalTransactionID))
    let unproven = findings.renewals.filter { $0.source == .signedV2 }.map(\.key.originalTransactionID)
      .filter { !told.contains($0) }
    guard !unproven.isEmpty else { return }
    let known = try await ledger.purchased(unproven, app: app, environment: findings.environment)
    if let unknown = unproven.first(where: { !known.contains($0) }) {
      throw MessageError(
        .authentic, .unknownSubscription,
        "a renewal names no app, and no purchase of \(unknown) is known here; hand in its transaction first",
        claimedApp: app.bundleID)
    }
  }

  /// Returns the environment in which the ledger has the ID; null for neither or both.
  private func knownEnvironment(of reading: DecodedMessage, _ app: App) async throws(DatabaseError) -> JSONValue {
    let ids = Set(reading.findings.seeds.map(\.transactionID))
    let known = try await ledger.environments(of: ids, app: app.id)
    let environments = known.values.reduce(into: Set<Environment>()) { $0.formUnion($1) }
    guard environments.count == 1, let environment = environments.first else { return .null }
    return .string(environment.rawValue)
  }

  private static func receipt(_ appended: AppendResult, _ reading: DecodedMessage, _ message: InboxMessage)
    -> JSONObject
  {
    let findings = reading.findings
    // A bare ID without an environment.
    let isNamed = findings.seeds.isEmpty || findings.seeds.contains { $0.environment != nil }
    var receipt: JSONObject = [
      "status": .string(appended.rawValue), "message": .string(message.digest.hex), "app": .string(reading.app),
      "environment": isNamed ? .string(reading.environment.rawValue) : .null, "title": .string(reading.title),
      "verified": .bool(reading.isVerified),
      "originalTransactionIds": .array(findings.originalTransactionIDs.map(JSONValue.string)),
      "purchases": .integer(Int64(findings.purchases.count)), "renewals": .integer(Int64(findings.renewals.count)),
      "appTransactions": .integer(Int64(findings.appTransactions.count)),
      "events": .integer(Int64(findings.events.count)),
      "seeds": .array(
        findings.seeds.map { seed in
          let environment = seed.environment.map { JSONValue.string($0.rawValue) } ?? .null
          return ["transactionId": .string(seed.transactionID), "environment": environment]
        }),
      "unknownFields": .array(reading.survey.unknownFields.map(JSONValue.string)),
    ]
    let unasked = findings.unverifiedSeeds.count - HistoryJobTable.mostUnverifiedOfMessage
    if unasked > 0 { receipt["idsNotAskedAbout"] = .integer(Int64(unasked)) }
    return receipt
  }
}
