import Answering
package import Database
package import JSON
package import Ledger
package import Purchases
package import Rollout
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
    @Sendable (_ receiptData: String, _ password: String, _ place: Place) async throws -> Answer?

  /// An app of the job in one environment.
  package struct Place: Sendable {
    package let app: App
    package let environment: Environment
    /// Rows of use that the job brought.
    package let usable: Int
    /// Why nothing can be compared; nil when it can.
    package let obstacle: Obstacle?
    fileprivate let password: String

    package var scope: Scope { Scope(app: app.id, environment: environment) }
  }

  package enum Obstacle: String, Sendable {
    /// Apple is never asked in `complete`.
    case complete
    /// Without the shared secret Apple answers nothing of subscriptions.
    case noSharedSecret

    package var text: String {
      switch self {
      case .complete: "in complete Apple's verifyReceipt is never asked"
      case .noSharedSecret: "no shared secret is registered that opens here: `switchyard app secret APP`"
      }
    }
  }

  package struct Plan: Sendable {
    package let job: MigrationJob
    package let places: [Place]
  }

  private let id: Int
  private let app: String?
  private let environment: Environment?
  private let mostImpact: Double

  /// So many calls without an answer, one after the other, end it.
  private static let mostUnanswered = 5

  /// - Parameters:
  ///   - app: nil: every app of the job.
  ///   - environment: nil: both.
  ///   - mostImpact: the rate of customers with an impact that must not be exceeded, at 95 % confidence.
  package init(_ id: Int, of app: String?, in environment: Environment?, mostImpact: Double) {
    (self.id, self.app, self.environment, self.mostImpact) = (id, app, environment, mostImpact)
  }

  /// Customers of each place who are compared, if the job brought so many.
  package var wanted: Int { RateBound.needed(for: mostImpact) }

  /// What would be compared; `NoSuchMigration` when there is no such job.
  package func plan(with keys: Keyring, on connection: Connection) async throws -> Plan {
    let (id, app, environment) = (id, app, environment)
    let plan = try await connection.read { session throws(DatabaseError) -> Plan? in
      guard let job = try MigrationJobTable.find(id, in: session) else { return nil }
      let apps = try AppTable.all(in: session)
      let flags = try FlagTable.all(in: session)
      let secrets = try CredentialTable.open(.sharedSecret, with: keys, in: session).opened
      var places: [Place] = []
      for (place, accounts) in try MigrationAccountTable.read(id, in: session).byPlace where accounts.usable > 0 {
        guard let found = apps.first(where: { $0.id == place.app }), let its = place.environment,
          app == nil || found.bundleID == app, environment == nil || its == environment
        else { continue }
        // The newest: an older one may be about to end.
        let secret = secrets.last { $0.app == found.id }?.secret
        let stage = flags[Scope(app: found.id, environment: its)]?.stage
        places.append(
          Place(
            app: found, environment: its, usable: accounts.usable,
            obstacle: stage == .complete ? .complete : secret == nil ? .noSharedSecret : nil,
            password: String(decoding: secret ?? [], as: UTF8.self)))
      }
      places.sort { ($0.app.bundleID, $0.environment.rawValue) < ($1.app.bundleID, $1.environment.rawValue) }
      return Plan(job: job, places: places)
    }
    guard let plan else { throw NoSuchMigration(id: id) }
    return plan
  }

  /// Compares receipts of one place until there are enough customers, or no more receipts.
  ///
  /// Ends early when the task is cancelled, or Apple does not answer; what was compared is kept.
  ///
  /// - Parameter every: the time from one call to the next.
  package func verify(
    _ place: Place, of job: MigrationJob, by author: Author, every pace: Duration, asking ask: Ask,
    with shadow: Shadow, on connection: Connection, at clock: WallClock, note: (MigrationProof) -> Void
  ) async throws -> MigrationProof {
    var proof = MigrationProof(mostImpact: mostImpact)
    let start = [UInt8].random(count: Digest.count)
    var unanswered = 0
    let sections = [(start, nil), ([UInt8](repeating: 0, count: Digest.count), start)]
    walk: for (first, last) in sections {
      var from: [UInt8]? = first
      while let after = from {
        let page = try await connection.read { session throws(DatabaseError) in
          try MigrationSample.page(of: job, in: place.scope, after: after, upTo: last, in: session)
        }
        for receipt in page.receipts {
          guard !Task.isCancelled, proof.known < wanted, unanswered < Self.mostUnanswered else { break walk }
          let began = ContinuousClock.now
          let message = try await connection.read { session throws(DatabaseError) in
            try InboxTable.messages(of: [receipt], in: session).first
          }
          guard let text = message.map({ String(decoding: $0.message.body, as: UTF8.self) }) else { continue }
          let askedAt = clock.now()
          let answer: Answer?
          do {
            answer = try await ask(text, place.password, place)
            unanswered = 0
          } catch {
            (unanswered, proof.unanswered) = (unanswered + 1, proof.unanswered + 1)
            continue
          }
          let body: JSONObject = ["receipt-data": .string(text), "password": .string(place.password)]
          if let answer {
            let call = AnswerCall(body: body.encoded(), environment: place.environment)
            proof.note(
              await shadow.compare(
                ShadowCall(call, theirs: answer.json, bytes: answer.bytes, askedAt: askedAt, isOperators: true)))
          } else {
            proof.notCompared += 1
          }
          note(proof)
          try? await Task.sleep(for: pace - (ContinuousClock.now - began))
        }
        from = page.end
      }
      proof.isWhole = last != nil
    }
    let told = proof
    try await connection.transaction { session throws(DatabaseError) in
      try author.note(
        "migration.verify", of: "migration \(job.id)",
        "\(place.app.bundleID) \(place.environment.rawValue): \(told.text)",
        at: clock.now(), in: session)
    }
    return proof
  }
}
