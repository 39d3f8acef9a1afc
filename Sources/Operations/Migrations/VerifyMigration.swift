import Answering
package import Database
package import JSON
package import Ledger
package import Purchases
import Rollout
package import Shadow
package import Signing
package import Time

/// Compares Switchyard's responses with Apple's for receipts of a bulk migration, while verifyReceipt exists.
///
/// The receipts are random. Each comparison is stored like those of `shadow`, in any stage of the app, and counts as
/// evidence. Apple's responses add no data to the ledger.
package struct VerifyMigration: Sendable {
  package struct Answer: Sendable {
    let json: JSONObject
    let bytes: Int

    package init(_ json: JSONObject, bytes: Int) { (self.json, self.bytes) = (json, bytes) }
  }

  /// Calls Apple's verifyReceipt in one environment.
  ///
  /// Returns `nil` if the receipt belongs to the other.
  package typealias Ask =
    @Sendable (_ receiptData: String, _ password: String, _ place: VerifiedScope) async throws -> Answer?

  /// An app of the job in one environment.
  package struct VerifiedScope: Sendable {
    package let app: App
    package let environment: Environment
    /// The job's usable rows.
    package let usable: Int
    /// The rejected rows of the whole job, most of them without a known app.
    package let rejected: Int
    /// The rows of the whole job without a purchase, which may have no stored message.
    let withoutPurchases: Int
    /// The reason why no comparison is possible, or `nil`.
    package let obstacle: Obstacle?
    /// Whether its clients' calls are compared on arrival.
    package let isInShadow: Bool
    fileprivate let password: String

    package var scope: AppScope { AppScope(app: app.id, environment: environment) }
  }

  package enum Obstacle: String, Sendable {
    /// The app's data is not recorded, so the ledger is out of date.
    case legacy
    /// The guard uses the comparisons there: it would count customers that get Apple's responses.
    case answered
    /// Without the shared secret Apple's responses have no subscriptions.
    case noSharedSecret

    package var text: String {
      switch self {
      case .legacy: "the stage is legacy"
      case .answered: "Switchyard answers its clients already; calls are compared as they come"
      case .noSharedSecret: "no shared secret is registered, or this master key cannot open it"
      }
    }

    /// Returns the command that fixes it.
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
    package let rejected: Int
  }

  private let id: Int
  private let app: String?
  private let environment: Environment?
  private let mostImpact: Double

  /// The number of consecutive failed calls that end it.
  private static let mostFailed = 5
  /// The number of consecutive unproven receipts that end it, since this process lacks a root.
  private static let mostUnproven = 20
  /// Apple's status for a shared secret that is not the app's.
  private static let wrongSecret: Int64 = 21_004

  /// - Parameters:
  ///   - app: `nil` for every app of the job.
  ///   - environment: `nil` for both.
  ///   - mostImpact: the maximum rate of customers with an impact, at 95% confidence.
  package init(_ id: Int, of app: String?, in environment: Environment?, mostImpact: Double) {
    (self.id, self.app, self.environment, self.mostImpact) = (id, app, environment, mostImpact)
  }

  /// The number of customers to compare for each app and environment, if the job has as many.
  package var wanted: Int { ConfidenceBound.needed(for: mostImpact) }

  package var mostCalls: Int { 2 * wanted }

  /// Returns the comparisons to make.
  ///
  /// Throws `NoSuchMigration`.
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
        // The newest secret: an older one may soon be retired.
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

  /// Compares receipts of one app and environment until there are enough customers, or no more receipts or calls.
  ///
  /// Ends early if the task is cancelled, or Apple does not respond. The comparisons so far are kept.
  ///
  /// - Parameters:
  ///   - job: the job at the time of the plan.
  ///   - pace: the time between calls.
  ///   - note: receives the progress.
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
      // The counts of a job that still ran when they were read are not final.
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

  /// Consecutive receipts without a result for the same reason.
  private struct Streak {
    var failed = 0
    private var unproven = 0

    var isTooLong: Bool { failed >= VerifyMigration.mostFailed || unproven >= VerifyMigration.mostUnproven }

    /// - Parameter outcome: `nil` for a receipt of the other environment.
    mutating func note(_ outcome: ShadowOutcome?) {
      failed = outcome == .failed || outcome == .noAnswer ? failed + 1 : 0
      unproven = outcome == .unproven ? unproven + 1 : 0
    }
  }

  /// Returns `nil` for a receipt whose body is deleted or does not open.
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

  /// Returns `nil` for a receipt of the other environment.
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
