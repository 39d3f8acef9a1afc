import struct Ledger.Destination

@testable import Ledger

/// A ledger whose app has an old back end in the sandbox, and messages that name customers at will.
struct OutboxFixture {
  static let now = SignedStory.start

  let base: LedgerFixture
  let destination: Destination

  var ledger: LedgerStore { base.ledger }
  var pool: Pool { base.pool }
  var scope: AppScope { AppScope(app: base.app.id, environment: .sandbox) }

  init(on server: PrivateMariaDB = .shared) async throws {
    base = try await LedgerFixture(on: server)
    let scope = AppScope(app: base.app.id, environment: .sandbox)
    destination = try await base.pool.read { session throws(DatabaseError) in
      try DestinationTable.setLegacy("https://old.example.com/apple?key=1", of: scope, at: Self.now, in: session)
      guard let made = try DestinationTable.legacy(of: scope, in: session) else {
        throw DatabaseError(.column, "no destination")
      }
      return made
    }
  }

  /// A message about these originalTransactionIds, all of one customer.
  func entry(
    _ text: String, _ originals: [String] = [], epoch: Int64? = 1, forwarded: Bool = true, proof: TrustLevel = .proven
  ) -> LedgerEntry {
    let message = InboxMessage(kind: .notification, body: Array(text.utf8), receivedAt: Self.now)
    var findings = Findings(app: SignedStory.app, environment: .sandbox)
    for original in originals {
      findings.links.append(
        CustomerLink(
          app: SignedStory.app, environment: .sandbox, .originalTransactionID(originals[0]),
          original == originals[0] ? .appTransactionID("7\(original)") : .originalTransactionID(original)))
    }
    let acceptance = LedgerEntry.AcceptedMessage(
      app: base.app.id, findings: findings, signedAt: nil, title: text)
    return LedgerEntry(
      message, .accepted(acceptance),
      addressee: forwarded ? .init(scope, epoch: epoch, at: Self.now, proof: proof) : nil)
  }

  func refused(_ text: String) -> LedgerEntry {
    let message = InboxMessage(kind: .notification, body: Array(text.utf8), receivedAt: Self.now)
    let refusal = LedgerEntry.QuarantineReason(
      source: .legacy, code: "notificationV1NotYet", detail: "", claimedApp: nil)
    return LedgerEntry(
      message, .quarantined(refusal), addressee: .init(scope, epoch: 1, at: Self.now, proof: .unproven))
  }

  /// Leases what may be sent at `now`, as the delivery does, by the texts of the messages.
  func lease(
    _ classes: Set<TrustLevel> = Set(TrustLevel.allCases), at now: Timestamp = Self.now, limit: Int = 100
  ) async throws -> [(text: String, LeasedDelivery)] {
    try await sort()
    let outcome = try await turn(wanted: classes.reduce(into: [:]) { $0[$1] = limit }, at: now)
    let (digests, destination) = (outcome.leased.map(\.message), destination)
    let bodies = try await pool.read { session throws(DatabaseError) in
      try OutboxTable.messages(digests, for: destination, .ofTests, in: session)
    }
    return outcome.leased.map { (String(decoding: bodies[$0.message]?.message.body ?? [], as: UTF8.self), $0) }
  }

  func turn(
    _ settlements: [Settlement] = [], wanted: [TrustLevel: Int] = [:], bytes: Int = 1 << 30,
    at now: Timestamp = Self.now
  ) async throws -> OutboxTurn.Outcome {
    let destination = destination
    var turn = OutboxTurn()
    (turn.settlements, turn.wanted, turn.bytes) = (settlements, wanted, wanted.mapValues { _ in bytes })
    return try await pool.transaction { [turn] session throws(DatabaseError) in
      try OutboxTable.take(
        turn, at: destination.id,
        OutboxTurn.Lease(owner: .random(count: 16), now: now, end: now + .seconds(60)), in: session)
    }
  }

  @discardableResult
  func sort() async throws -> Int {
    let destination = destination
    return try await pool.transaction { session throws(DatabaseError) in
      try OutboxTable.sort(at: destination, in: session)
    }
  }

  func texts(at now: Timestamp = Self.now) async throws -> [String] { try await lease(at: now).map(\.text) }

  func deliver(_ deliveries: [(text: String, LeasedDelivery)]) async throws {
    try await settle(deliveries, .delivered)
  }

  func settle(
    _ deliveries: [(text: String, LeasedDelivery)], _ outcome: Settlement.Outcome, at now: Timestamp = Self.now
  ) async throws {
    _ = try await turn(deliveries.map { Settlement($0.1, outcome) }, at: now)
  }

  func count(_ sql: SQL) async throws -> Int {
    try await pool.read { session throws(DatabaseError) in try session.query(sql).first?.int(0) ?? -1 }
  }
}
