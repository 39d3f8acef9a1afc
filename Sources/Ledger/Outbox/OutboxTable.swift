import Database
import Purchases
import Signing
package import Time

/// `outbox`: what is to be sent to which destination, one row for each message and destination.
///
/// **Order.** A row is sent only when no waiting row of the same destination with a smaller sequence is of the same
/// customer; but a proven row waits for a claimed one for a minute at most. The order is kept in `outbox_keys`; whether a row may go is also a state of the row (`Readiness`), so that
/// finding the next ones is a range scan of an index that reads what it takes, however much waits. All that decides
/// about the order of a destination happens in its turns (`OutboxTurn`), one at a time:
///
/// * *Enqueue* writes the row as ready, with its keys, and looks at nothing else: taking a message in never waits for
///   the forwarding.
/// * A *turn* that wants to lease takes ready rows and looks under each of their keys. Rows that are first are leased;
///   the others are blocked. A proven row that only claimed rows precede stays ready, and is due when its wait is over.
/// * A *turn* that settles a row removes its keys and makes the row ready that is now first under each of them.
///
/// So a blocked row always has an earlier one whose settlement wakes it, and no blocked row depends on a clock. Rows that
/// name nobody (a test notification) and unproven rows (a message in quarantine) wait for nobody.
package enum OutboxTable {
  /// Apple tries for three days; so do we.
  package static let age = Interval.days(3)
  /// For how long after a claimed row was enqueued later proven rows of its customers wait for it.
  static let claimedHold = Interval.minutes(1)

  /// How a row stands; its number in the table.
  package enum State: Int, Hashable, Sendable, CaseIterable {
    case waiting = 0
    case delivered = 1
    /// Given up: too old, or by hand.
    case dead = 2
  }

  /// Whether a waiting row may be looked at for sending; its number in the table.
  enum Readiness: Int {
    /// Its keys are to be made first: it waited before the schema had them, was written by an older binary, was replayed,
    /// or customers were made anew by a rebuild.
    case unsorted = 0
    /// To be sent when it is due, unless an earlier row turns out to be in its way.
    case ready = 1
    /// An earlier row of one of its customers waits.
    case blocked = 2
  }

  /// What the stages and destinations of some apps are inside a transaction.
  struct Roads {
    var epochs: [AppScope: Int64] = [:]
    var destinations: [AppScope: [Int]] = [:]

    /// Whether the stage has changed since it was decided what to do for `addressee`.
    func isStale(_ addressee: LedgerEntry.DeliveryTarget) -> Bool {
      guard let epoch = addressee.epoch else { return false }
      return epochs[addressee.scope] != epoch
    }
  }

  /// The epochs and enabled destinations of these apps, held as they are until the transaction ends.
  static func roads(of apps: Set<App.ID>, in session: borrowing Session) throws(DatabaseError) -> Roads {
    var roads = Roads()
    guard !apps.isEmpty else { return roads }
    let list = apps.map(\.number).sorted()
    for row in try session.query(
      """
      SELECT f.app, f.environment, f.epoch, d.id AS destination FROM app_recording f
      LEFT JOIN destinations d ON d.app = f.app AND d.environment = f.environment AND d.enabled = 1
      WHERE f.app IN (\(list: list)) ORDER BY f.app, f.environment, d.id LOCK IN SHARE MODE
      """)
    {
      let scope = AppScope(app: App.ID(try row.int("app")), environment: try Environment(code: row.int("environment")))
      roads.epochs[scope] = try row.int64("epoch")
      if let destination = try row.optionalInt("destination") {
        roads.destinations[scope, default: []].append(destination)
      }
    }
    return roads
  }

  /// A message that has to go out, to whom, and the customers it names.
  struct Outgoing {
    let message: Digest
    let addressee: LedgerEntry.DeliveryTarget
    let proof: TrustLevel
    /// Bytes of its body.
    let size: Int
    let members: Set<CustomerNode>
    /// Whether it is accepted now: then also what was given up with a proof is sent.
    var isAccepted = false
  }

  // A row that is there is locked and not changed: so the server's count tells whether there was any.
  private static let insertRow = BulkInsert(
    into: "INSERT INTO outbox (destination, message, created_at, due_at, expires_at, class, readiness, size) VALUES",
    then: "ON DUPLICATE KEY UPDATE message = VALUES(message)")

  private static let insertMember = BulkInsert(
    into: "INSERT INTO outbox_members (destination, member, sequence) VALUES",
    then: "ON DUPLICATE KEY UPDATE member = VALUES(member)", repeatsLast: true)

  /// The most unproven rows that wait at a destination: what nobody vouches for must not fill the disk.
  ///
  /// Those that come later are set aside all the same, and not forwarded.
  package static let mostUnproven = 1_000

  /// Puts the messages into the outbox of every destination of theirs, in their order; one that is there stays as it is, but
  /// for what `revive` says.
  ///
  /// - Returns: How many unproven ones found no room at a destination.
  @discardableResult
  static func enqueue(
    _ messages: [Outgoing], _ roads: Roads, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    var rows: [[SQLValue]] = []
    var (room, unforwarded): ([Int: Int], Int) = ([:], 0)
    var naming: [Digest: Outgoing] = [:]
    for outgoing in messages {
      let start = outgoing.addressee.at
      for destination in roads.destinations[outgoing.addressee.scope] ?? [] {
        if outgoing.proof == .unproven {
          if room[destination] == nil { room[destination] = try roomForUnproven(at: destination, in: session) }
          guard let left = room[destination], left > 0 else {
            unforwarded += 1
            continue
          }
          room[destination] = left - 1
        }
        rows.append([
          .integer(Int64(destination)), .bytes(outgoing.message.bytes), .integer(start.sinceEpoch),
          .integer(start.sinceEpoch), .integer((start + age).sinceEpoch), .integer(Int64(outgoing.proof.rawValue)),
          .integer(Int64(Readiness.ready.rawValue)), .integer(Int64(outgoing.size)),
        ])
        if !outgoing.members.isEmpty { naming[outgoing.message] = outgoing }
      }
    }
    guard !rows.isEmpty else { return unforwarded }
    // Of nearly every commit all are new. The others are locked by now, so that none is settled meanwhile.
    if try session.insert(insertRow, rows: rows) < UInt64(rows.count) {
      try raise(messages, roads, in: session)
      try revive(messages, roads, in: session)
    }
    try order(naming, in: session)
    return unforwarded
  }

  /// How many unproven rows a destination has room for; reads an index of as many rows as may wait.
  static func roomForUnproven(
    at destination: Int, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    let row = try session.query(
      """
      SELECT COUNT(*) AS waiting FROM (SELECT 1 FROM outbox FORCE INDEX (by_readiness)
        WHERE destination = \(destination) AND state = 0 AND readiness = \(Readiness.ready.rawValue)
        AND class = \(TrustLevel.unproven.rawValue) LIMIT \(mostUnproven)) AS unproven
      """
    ).first
    return mostUnproven - (try row?.int("waiting") ?? 0)
  }

  /// Writes whom the rows of these messages name, and puts them into the order.
  private static func order(
    _ messages: [Digest: Outgoing], in session: borrowing Session
  ) throws(DatabaseError) {
    guard !messages.isEmpty else { return }
    var members: [AppScope: Set<OutboxKeys.Member>] = [:]
    let digests = messages.keys.map(\.bytes)
    // Locked, since one that was set aside before may be on its way: its keys go with it when it is settled.
    for row in try session.query(
      """
      SELECT sequence, destination, message, class, created_at FROM outbox FORCE INDEX (message)
      WHERE message IN (\(list: digests)) AND state = 0 FOR UPDATE
      """)
    {
      guard let digest = Digest(bytes: try row.bytes("message")), let outgoing = messages[digest] else { continue }
      let (destination, sequence) = (try row.int("destination"), try row.int64("sequence"))
      let proof = TrustLevel(rawValue: try row.int("class")) ?? outgoing.proof
      let enqueuedAt = try row.milliseconds("created_at")
      for node in outgoing.members {
        members[outgoing.addressee.scope, default: []].insert(
          OutboxKeys.Member(
            destination: destination, proof: proof, sequence: sequence, enqueuedAt: enqueuedAt, node: node))
      }
    }
    // A binary of the schema before orders by the members; they also say whom a row names when its keys are made anew.
    let rows = members.values.joined().map { member -> [SQLValue] in
      [.integer(Int64(member.destination)), .text(member.node.text), .integer(member.sequence)]
    }
    _ = try session.insert(insertMember, rows: rows.inKeyOrder(columns: 3))
    for (scope, members) in members.sorted(by: { $0.key < $1.key }) {
      try OutboxKeys.insert(members, in: scope, session)
    }
  }
}

extension Findings {
  /// Everybody whom a message names.
  var members: Set<CustomerNode> {
    var nodes = Set(originalTransactionIDs.map(CustomerNode.originalTransactionID))
    for link in links { nodes.formUnion([link.a, link.b]) }
    for event in events { if let id = event.originalTransactionID { nodes.insert(.originalTransactionID(id)) } }
    for statement in appTransactions { nodes.insert(.appTransactionID(statement.key.appTransactionID)) }
    return nodes
  }
}
