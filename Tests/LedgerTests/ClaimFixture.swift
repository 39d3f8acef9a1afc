@testable import Ledger

/// A ledger that hears of periods of a day; times are seconds.
struct ClaimFixture: Sendable {
  let pool: Pool
  let ledger: LedgerStore
  let app: App
  private static let start = Timestamp(1_780_000_000_000)

  static func with(_ body: (Self) async throws -> Void) async throws {
    let fixture = try await LedgerFixture()
    do {
      try await body(Self(pool: fixture.pool, ledger: fixture.ledger, app: fixture.app))
    } catch {
      await fixture.pool.close()
      throw error
    }
    await fixture.pool.close()
  }

  var scope: AppScope { AppScope(app: app.id, environment: .production) }

  func time(_ seconds: Double) -> Timestamp { Self.start + .milliseconds(Int64(seconds * 1_000)) }

  func findings(
    _ source: Source, of original: String, _ periods: ClosedRange<Int64>, renewal: Int64? = nil,
    revokedAt: Double? = nil, also other: Source? = nil, at asOf: Double, message digest: Digest? = nil
  ) -> Findings {
    var findings = Findings(app: app.bundleID, environment: .production)
    let rank = Rank(asOf: time(asOf), tieBreak: [UInt8](repeating: UInt8(source.rawValue), count: 16))
    let message = digest?.bytes ?? [UInt8](repeating: UInt8(source.rawValue), count: 32)
    let day: Int64 = 86_400_000
    for source in [source] + (other.map { [$0] } ?? []) {
      findings.purchases += periods.map { number in
        var facts = Facts<PurchaseField>()
        facts.set(.originalTransactionId, .string(original))
        facts.set(.type, "Auto-Renewable Subscription")
        if let revokedAt { facts.set(.revocationDate, .integer(time(revokedAt).sinceEpoch)) }
        facts.set(.purchaseDate, .integer(Self.start.sinceEpoch + number * day))
        facts.set(.expiresDate, .integer(Self.start.sinceEpoch + (number + 1) * day))
        return PurchaseStatement(
          key: PurchaseKey(
            app: app.bundleID, environment: .production, originalTransactionID: original,
            line: Line(text: "\(original)00\(number)")), source: source, rank: rank, facts: facts, message: message)
      }
    }
    if let renewal {
      var facts = Facts<RenewalField>()
      facts.set(.autoRenewStatus, .integer(renewal))
      facts.set(.renewalDate, .integer(Self.start.sinceEpoch + (periods.upperBound + 1) * 86_400_000))
      findings.renewals = [
        RenewalStatement(
          key: SubscriptionKey(app: app.bundleID, environment: .production, originalTransactionID: original),
          source: source, rank: rank, facts: facts, message: message)
      ]
    }
    if !source.isSigned {
      findings.seeds = [TransactionReference(app: app.bundleID, environment: .production, transactionID: original)]
    }
    return findings
  }

  func hear(
    _ source: Source, of original: String = "1", period: Int64, renewal: Int64? = nil, revokedAt: Double? = nil,
    also other: Source? = nil, at seconds: Double
  ) async throws {
    try await hear(
      source, of: original, periods: period...period, renewal: renewal, revokedAt: revokedAt, also: other, at: seconds)
  }

  func hear(
    _ source: Source, of original: String = "1", periods: ClosedRange<Int64>, renewal: Int64? = nil,
    revokedAt: Double? = nil, also other: Source? = nil, order: UnconfirmedIDPriority = .behind(atMost: .max),
    at seconds: Double
  ) async throws {
    let message = InboxMessage(
      kind: source == .notificationV1 ? .notification : .evidence,
      body: Array("\(source) \(original) \(periods) \(renewal ?? -1) \(revokedAt ?? -1) \(seconds)".utf8),
      receivedAt: time(seconds))
    let findings = findings(
      source, of: original, periods, renewal: renewal, revokedAt: revokedAt, also: other, at: seconds,
      message: message.digest)
    try await append(findings, message, order)
  }

  /// An event of a V1 body of which this is all.
  func event(_ type: String, line: Line?, at seconds: Double) throws -> Findings {
    var findings = Findings(app: app.bundleID, environment: .production)
    findings.events = [
      Event(
        app: app.bundleID, environment: .production, notificationUUID: nil, notificationType: type, subtype: nil,
        originalTransactionID: "1", transactionID: nil, line: line, date: time(seconds), source: .notificationV1,
        rank: Rank(asOf: time(seconds), tieBreak: [1]), details: [:], message: [UInt8](repeating: 1, count: 32),
        rule: nil)
    ]
    return findings
  }

  func message(_ text: String, at seconds: Double) -> InboxMessage {
    InboxMessage(kind: .notification, body: Array(text.utf8), receivedAt: time(seconds))
  }

  func append(
    _ findings: Findings, _ message: InboxMessage, _ order: UnconfirmedIDPriority = .behind(atMost: .max)
  ) async throws {
    var entry = LedgerEntry(
      message,
      .accepted(LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: nil, title: "test")))
    entry.claimedIDs = order
    #expect(try await ledger.append([entry]) == [.stored])
  }

  /// Has the ids in a history that is stored.
  func store(history ids: Set<String>) async throws {
    let (scope, now) = (scope, time(1))
    let history = StoredHistory(
      environment: .production, originalTransactionIDs: ids, transactionIDs: [], revision: "r")
    try await pool.transaction { session throws(DatabaseError) in
      try HistoryTable.note([history], in: scope, at: now, session)
    }
  }

  func stored(_ ids: Set<String>) -> HistoryJobTable.Outcome {
    .stored(StoredHistory(environment: .production, originalTransactionIDs: ids, transactionIDs: [], revision: "r"))
  }

  func askAgain(_ id: String, at seconds: Double) async throws {
    let (scope, now) = (scope, time(seconds))
    try await pool.transaction { session throws(DatabaseError) in
      try HistoryJobTable.askAgain([id], in: scope, unlessDoneSince: now, at: now, in: session)
    }
  }

  func lease(
    at seconds: Double, queue: HistoryJobTable.Queue = .claimed, limit: Int = 10
  ) async throws -> [LeasedHistoryJob] {
    let (selection, now) = (HistoryJobTable.Selection(scope, queue), time(seconds))
    return try await pool.transaction { session throws(DatabaseError) in
      try HistoryJobTable.lease(
        selection, limit: limit, until: now + .minutes(15), owner: .random(count: 16), at: now, in: session
      ).customers
    }
  }

  func settle(
    _ customers: [LeasedHistoryJob], _ settlement: HistoryJobTable.Outcome, at seconds: Double
  ) async throws {
    let now = time(seconds)
    try await pool.transaction { session throws(DatabaseError) in
      try HistoryJobTable.settle(customers.map { ($0, settlement) }, at: now, in: session)
    }
  }

  func open() async throws -> [String: PendingLookup] {
    let scope = scope
    return try await pool.read { session throws(DatabaseError) in
      try UnconfirmedChangeTable.open(of: ["1", "7", "8", "9"], in: scope, session)
    }
  }

  /// `KIND SUBJECT STATE` of every row, in order.
  func work() async throws -> [String] {
    let app = app
    return try await pool.read { session throws(DatabaseError) in
      try HistoryJobTable.list(of: app, HistoryJobTable.State.allCases, limit: 100, in: session)
        .map { "\($0.kind) \($0.subject) \($0.state.name)" }.sorted()
    }
  }
}
