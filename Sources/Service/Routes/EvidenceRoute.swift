import Adapter
import Database
import HTTPServer
import JSON
package import Ledger
import Purchases
package import Runtime
package import Seeding
package import Signing
package import Time
import Wire

/// `POST /v1/evidence`: what an app's back end or a new client has in hand.
///
/// Idempotent; the bearer token says whose it is. 200 with what was learned once it is committed; 422 with the reason when nothing vouches for it.
/// With `wait=SECONDS` Apple is asked for the customer's history before the answer, ahead of everybody who is asked about
/// in bulk; `history` says how it went, and `results` what is known then of each id: the answer to a restore.
package struct EvidenceRoute: Sendable {
  /// What the adapter reads: an answer of many years reaches megabytes.
  static let bodyLimit = 8 << 20

  private let intake: Intake
  private let ledger: Ledger
  private let commit: GroupCommit
  private let lookUps: LookUps
  private let seeding: Seeding?
  private let registry: Registry
  private let key: MasterKey
  private let metrics: ServiceMetrics
  private let clock: WallClock
  private let logger: Logger

  package init(
    intake: Intake, ledger: Ledger, commit: GroupCommit, lookUps: LookUps, seeding: Seeding?, registry: Registry,
    key: MasterKey, metrics: ServiceMetrics, clock: WallClock, logger: Logger
  ) {
    self.intake = intake
    self.ledger = ledger
    self.commit = commit
    self.lookUps = lookUps
    self.seeding = seeding
    self.registry = registry
    self.key = key
    self.metrics = metrics
    self.clock = clock
    self.logger = logger
  }

  func respond(to request: HTTPRequest, app: App) async -> HTTPResponse {
    let start = ContinuousClock.now
    defer { metrics.receiveSeconds["evidence"].record(ContinuousClock.now - start) }
    var environment: Environment?
    if let name = request.queryValue("environment") {
      guard let known = Environment(rawValue: name) else {
        let known = Environment.allCases.map(\.rawValue).joined(separator: ", ")
        return .error(400, "unknownEnvironment", "environment is one of \(known)")
      }
      environment = known
    }
    let wait: Interval
    do throws(HistoryWait.Unusable) { wait = try HistoryWait.limit(request.queryValue("wait")) } catch {
      return .error(400, "unusableWait", "wait is a number of seconds from 0 to \(HistoryWait.longest)")
    }
    let now = clock.now()
    let userID = request.queryValue("userId").flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    let claim = Claim(environment: environment, userID: userID)
    let body = withoutSecrets(request.body)
    let identity = Adapter.identity(
      ofEvidence: body, app: app.bundleID, environment: environment, userID: claim.userID)
    let message = InboxMessage(
      kind: .evidence, body: body, identity: identity, claim: claim, receivedAt: now)
    do {
      let decision = try intake.evidence(message, app: app, now: now)
      try await requirePurchases(of: decision, app: app)
      let appended = try await commit.append(decision.entry)
      metrics.messages["evidence", app.bundleID, appended.rawValue].increment()
      guard let reading = decision.reading else { return .error(500, "noReading", "the evidence was not read") }
      metrics.count(reading.survey)
      var answer = Self.receipt(appended, reading, message)
      if answer["environment"] == .null { answer["environment"] = try await knownEnvironment(of: reading, app) }
      if wait > .milliseconds(0) {
        await HistoryWait(seeding: seeding, ledger: ledger, lookUps: lookUps, clock: clock, logger: logger)
          .add(to: &answer, reading.findings, app: app, within: wait)
      }
      return .object(200, answer)
    } catch let refusal as Refusal {
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

  /// The body without shared secrets: a back end may hand in what it sent to verifyReceipt, or a V1 body.
  private func withoutSecrets(_ body: [UInt8]) -> [UInt8] {
    guard HiddenSecrets.mayBe(in: body) else { return body }
    let directory = registry.directory
    let limits = JSONLimits(bytes: Self.bodyLimit, depth: JSONLimits.standard.depth)
    return LegacyPassword.redacted(body, limits: limits, key: key) { !directory.apps(withSecret: $0).isEmpty }
  }

  /// Refuses a signed renewal of a subscription nobody knows.
  ///
  /// It names no app itself, so that only a purchase can say whose it is. What V1 says of renewals stands in a body that names its app.
  private func requirePurchases(of decision: Intake.Decision, app: App) async throws {
    guard let findings = decision.reading?.findings else { return }
    let told = Set(findings.purchases.map(\.key.originalTransactionID))
    let unproven = findings.renewals.filter { $0.source == .signedV2 }.map(\.key.originalTransactionID)
      .filter { !told.contains($0) }
    guard !unproven.isEmpty else { return }
    let known = try await ledger.purchased(unproven, app: app, environment: findings.environment)
    if let unknown = unproven.first(where: { !known.contains($0) }) {
      throw Refusal(
        .authentic, .unknownSubscription,
        "a renewal names no app, and no purchase of \(unknown) is known here; hand in its transaction first",
        claimedApp: app.bundleID)
    }
  }

  /// The environment in which the ledger knows the id; null where it knows it in none, or in both.
  private func knownEnvironment(of reading: Reading, _ app: App) async throws(DatabaseError) -> JSONValue {
    let ids = Set(reading.findings.seeds.map(\.transactionID))
    let known = try await ledger.environments(of: ids, app: app.id)
    let environments = known.values.reduce(into: Set<Environment>()) { $0.formUnion($1) }
    guard environments.count == 1, let environment = environments.first else { return .null }
    return .string(environment.rawValue)
  }

  /// What the caller gets back: what became of it and which purchases it is about.
  private static func receipt(_ appended: Appended, _ reading: Reading, _ message: InboxMessage) -> JSONObject {
    let findings = reading.findings
    // An id alone of which nobody named the environment.
    let isNamed = findings.seeds.isEmpty || findings.seeds.contains { $0.environment != nil }
    return [
      "status": .string(appended.rawValue), "message": .string(message.digest.hex), "app": .string(reading.app),
      "environment": isNamed ? .string(reading.environment.rawValue) : .null, "title": .string(reading.title),
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
  }
}
