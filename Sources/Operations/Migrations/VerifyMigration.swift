import Answering
package import Database
package import JSON
package import Ledger
package import Purchases
import Rollout
package import Shadow
package import Signing
package import Time

/// Compares our answers with Apple's for receipts that a bulk migration brought, while verifyReceipt lives.
///
/// The receipts are drawn by lot. Each comparison is kept as those of `shadow` are, in whatever stage the app is, and counts as
/// evidence. Nothing is learned from Apple's answers.
package struct VerifyMigration: Sendable {
  /// What Apple answered.
  package struct Answer: Sendable {
    let json: JSONObject
    let bytes: Int

    package init(_ json: JSONObject, bytes: Int) { (self.json, self.bytes) = (json, bytes) }
  }

  /// Asks Apple's verifyReceipt in one environment; nil when the receipt belongs to the other.
  package typealias Ask =
    @Sendable (_ receiptData: String, _ password: String, _ place: VerifiedScope) async throws -> Answer?

  /// An app of the job in one environment.
  package struct VerifiedScope: Sendable {
    package let app: App
    package let environment: Environment
    /// Rows of use that the job brought.
    package let usable: Int
    /// Rows of the whole job that were rejected: most of them name no app that is known.
    package let rejected: Int
    /// Rows of the whole job without a purchase, of which no message may be stored.
    let withoutPurchases: Int
    /// Why nothing can be compared; nil when it can.
    package let obstacle: Obstacle?
    /// Whether its clients' calls are compared as they come.
    package let isInShadow: Bool
    fileprivate let password: String

    package var scope: AppScope { AppScope(app: app.id, environment: environment) }
  }

  package enum Obstacle: String, Sendable {
    /// Nothing of the app is recorded, so that what is known of it is old.
    case legacy
    /// The guard looks at what is compared there: it would count customers who get Apple's answers.
    case answered
    /// Without the shared secret Apple answers nothing of subscriptions.
    case noSharedSecret

    package var text: String {
      switch self {
      case .legacy: "the stage is legacy"
      case .answered: "Switchyard answers its clients already; calls are compared as they come"
      case .noSharedSecret: "no shared secret is registered, or this master key cannot open it"
      }
    }

    /// The command that helps.
    package func next(_ app: String, _ environment: Environment) -> String {
      switch self {
      case .legacy: "switchyard rollout set \(app) record --environment \(environment.rawValue) --reason TEXT"
      case .answered: "switchyard compare list --app \(app) --environment \(environment.rawValue)"
      case .noSharedSecret: "switchyard app secret \(app) --shared-secret-file FILE"
      }
    }
  }

  package struct Plan: Sendable {
    package let job: MigrationJob
    package let places: [VerifiedScope]
    /// Rows of the job that were rejected.
    package let rejected: Int
  }

  private let id: Int
  private let app: String?
  private let environment: Environment?
  private let mostImpact: Double

  /// So many calls without a comparison, one after the other, end it.
  private static let mostFailed = 5
  /// So many receipts in a row that are not proven to this process end it: it lacks a root.
  private static let mostUnproven = 20
  /// What Apple answers to a shared secret that is not the app's.
  private static let wrongSecret: Int64 = 21_004

  /// - Parameters:
  ///   - app: nil: every app of the job.
  ///   - environment: nil: both.
  ///   - mostImpact: the rate of customers with an impact that must not be exceeded, at 95 % confidence.
  package init(_ id: Int, of app: String?, in environment: Environment?, mostImpact: Double) {
    (self.id, self.app, self.environment, self.mostImpact) = (id, app, environment, mostImpact)
  }

  /// Customers of each place who are compared, if the job brought so many.
  package var wanted: Int { ConfidenceBound.needed(for: mostImpact) }

  /// Calls of Apple's verifyReceipt about one place at most.
  package var mostCalls: Int { 2 * wanted }

  /// What would be compared; `NoSuchMigration` when there is no such job.
  package func plan(with keys: Keyring, on connection: Connection) async throws -> Plan {
    let (id, app, environment) = (id, app, environment)
    let plan = try await connection.read { session throws(DatabaseError) -> Plan? in
      guard let job = try MigrationJobTable.find(id, in: session) else { return nil }
      let apps = try AppTable.all(in: session)
      let flags = try StageTable.all(in: session)
      let secrets = try CredentialTable.open(.sharedSecret, with: keys, in: session).opened
      var places: [VerifiedScope] = []
      let (all, byPlace) = try MigrationAccountTable.read(id, in: session)
      for (place, accounts) in byPlace where accounts.usable > 0 {
        guard let found = apps.first(where: { $0.id == place.app }), let its = place.environment,
          app == nil || found.bundleID == app, environment == nil || its == environment
        else { continue }
        // The newest: an older one may be about to end.
        let secret = secrets.last { $0.app == found.id }?.secret
        let stage = flags[AppScope(app: found.id, environment: its)]?.stage ?? .record
        let obstacle: Obstacle? =
          stage == .legacy
          ? .legacy : stage.answers != .apple ? .answered : secret == nil ? .noSharedSecret : nil
        places.append(
          VerifiedScope(
            app: found, environment: its, usable: accounts.usable, rejected: all.allRejected,
            withoutPurchases: all.withoutPurchases, obstacle: obstacle, isInShadow: stage == .shadow,
            password: String(decoding: secret ?? [], as: UTF8.self)))
      }
      places.sort { ($0.app.bundleID, $0.environment.rawValue) < ($1.app.bundleID, $1.environment.rawValue) }
      return Plan(job: job, places: places, rejected: all.allRejected)
    }
    guard let plan else { throw NoSuchMigration(id: id) }
    return plan
  }

  /// Compares receipts of one place until there are enough customers, or no more receipts or calls.
  ///
  /// Ends early when the task is cancelled, or Apple does not answer; what was compared is kept.
  ///
  /// - Parameters:
  ///   - job: as it was when the place was planned.
  ///   - pace: the time from one call to the next.
  ///   - note: hears how far it is.
  package func verify(
    _ place: VerifiedScope, of job: MigrationJob, by author: AuditContext, every pace: Duration, asking ask: Ask,
    with shadow: ShadowComparer, _ keys: Keyring, on connection: Connection, at clock: WallClock,
    note: (MigrationVerification) -> Void
  ) async throws -> MigrationVerification {
    var proof = MigrationVerification(
      mostImpact: mostImpact, rejected: place.rejected, withoutPurchases: place.withoutPurchases)
    var streak = Streak()
    let start = [UInt8].random(count: MigrationSample.width)
    let sections: [([UInt8], [UInt8]?)] = [
      (start, nil), ([UInt8](repeating: 0, count: MigrationSample.width), start),
    ]
    walk: for (first, last) in sections {
      var from: [UInt8]? = first
      while let after = from {
        let page = try await connection.read { session throws(DatabaseError) in
          try MigrationSample.page(of: job.id, in: place.scope, after: after, upTo: last, in: session)
        }
        proof.noteWithoutMessage(page.withoutMessage)
        for receipt in page.receipts {
          guard !Task.isCancelled, proof.known < wanted, proof.asked < mostCalls, !streak.isTooLong else {
            break walk
          }
          guard let text = try await text(of: receipt, BodyVault(keys), on: connection) else {
            proof.noteWithoutMessage(1)
            continue
          }
          let began = ContinuousClock.now
          do {
            let compared = try await compare(text, place, asking: ask, with: shadow, at: clock)
            streak.note(compared?.outcome)
            proof.note(compared)
          } catch is WrongSecret {
            proof.isSecretWrong = true
            break walk
          } catch {
            guard !Task.isCancelled else { break walk }
            streak.failed += 1
            proof.noteUnanswered("\(error)")
          }
          note(proof)
          try? await Task.sleep(for: pace - (ContinuousClock.now - began))
        }
        from = page.end
      }
      // The counts of a job that still ran when they were read are not its last.
      proof.isWhole = last != nil && job.state == .done && proof.asked == place.usable
    }
    proof.isStopped = Task.isCancelled
    let told = proof
    try await connection.transaction { session throws(DatabaseError) in
      try author.note(
        "migration.verify", of: "migration \(job.id)",
        "\(place.app.bundleID) \(place.environment.rawValue): \(told.text)", at: clock.now(), in: session)
    }
    return proof
  }

  /// Receipts in a row that show nothing, for the same reason.
  private struct Streak {
    var failed = 0
    private var unproven = 0

    var isTooLong: Bool { failed >= VerifyMigration.mostFailed || unproven >= VerifyMigration.mostUnproven }

    /// - Parameter outcome: nil for a receipt that belongs to the other environment.
    mutating func note(_ outcome: ShadowOutcome?) {
      failed = outcome == .failed || outcome == .noAnswer ? failed + 1 : 0
      unproven = outcome == .unproven ? unproven + 1 : 0
    }
  }

  /// Nil for a receipt whose body is gone or does not open.
  private func text(
    of receipt: InboxListing, _ bodies: BodyVault, on connection: Connection
  ) async throws(DatabaseError) -> String? {
    let body = try await connection.read { session throws(DatabaseError) in
      try BodyPage.read([receipt]) { part throws(DatabaseError) in
        try InboxTable.messages(of: part, bodies, in: session)
      }.messages.first?.message.body
    }
    return body.map { String(decoding: $0, as: UTF8.self) }
  }

  private struct WrongSecret: Error {}

  /// Nil for a receipt that belongs to the other environment.
  private func compare(
    _ text: String, _ place: VerifiedScope, asking ask: Ask, with shadow: ShadowComparer, at clock: WallClock
  ) async throws -> ComparisonSummary? {
    let askedAt = clock.now()
    guard let answer = try await ask(text, place.password, place) else { return nil }
    guard answer.json["status"]?.integer != Self.wrongSecret else { throw WrongSecret() }
    let body: JSONObject = ["receipt-data": .string(text), "password": .string(place.password)]
    let call = VerifyReceiptCall(body: body.encoded(), environment: place.environment)
    return await shadow.compare(
      ShadowCall(call, theirs: answer.json, bytes: answer.bytes, askedAt: askedAt, isOperators: true))
  }
}
