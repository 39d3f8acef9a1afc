import Database
import Purchases
import Signing
package import Time

/// `outbox` and `outbox_members`: what is to be sent to whom, one row for each message and destination.
///
/// **Order.** A row is sent only when no waiting row of the same destination with a smaller sequence is of the same
/// customer. Customers are compared as they are known at that moment, not as they were when the rows were written: each
/// row keeps the nodes its message names, and the look-up goes through `customers`. So two rows of customers that join
/// while they wait, by whatever message, are in order from then on. Rows that name nobody (a test notification, a
/// message in quarantine) wait for nobody. Proof: a waiting row is blocked until every earlier one of its customer is
/// delivered or dead; both are for ever, but for an operator's replay.
package enum OutboxTable {
  /// Apple tries for three days; so do we.
  package static let age = Interval.days(3)

  /// How a row stands; its number in the table.
  package enum State: Int, Hashable, Sendable, CaseIterable {
    case waiting = 0
    case delivered = 1
    /// Given up: too old, or by hand.
    case dead = 2
  }

  /// What the stages and destinations of some apps are inside a transaction.
  struct Roads {
    var epochs: [Ledger.Scope: Int64] = [:]
    var destinations: [Ledger.Scope: [Int]] = [:]

    /// Whether the stage has changed since it was decided what to do for `addressee`.
    func isStale(_ addressee: Entry.Addressee) -> Bool {
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
      SELECT f.app, f.environment, f.epoch, d.id AS destination FROM flags f
      LEFT JOIN destinations d ON d.app = f.app AND d.environment = f.environment AND d.enabled = 1
      WHERE f.app IN (\(list: list)) ORDER BY f.app, f.environment, d.id LOCK IN SHARE MODE
      """)
    {
      let scope = Ledger.Scope(
        app: App.ID(try row.int("app")), environment: try Environment(code: row.int("environment")))
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
    let addressee: Entry.Addressee
    let members: Set<CustomerNode>
  }

  private static let insertRow = RowsInsert(
    into: "INSERT INTO outbox (destination, message, created_at, due_at, expires_at) VALUES",
    then: "ON DUPLICATE KEY UPDATE message = VALUES(message)")

  private static let insertMember = RowsInsert(
    into: "INSERT INTO outbox_members (destination, member, sequence) VALUES",
    then: "ON DUPLICATE KEY UPDATE member = VALUES(member)")

  /// Puts the messages into the outbox of every destination of theirs, in their order; one that is there stays as it is.
  static func enqueue(
    _ messages: [Outgoing], _ roads: Roads, in session: borrowing Session
  ) throws(DatabaseError) {
    var rows: [[SQLValue]] = []
    var members: [Digest: Set<CustomerNode>] = [:]
    for outgoing in messages {
      let start = outgoing.addressee.at
      for destination in roads.destinations[outgoing.addressee.scope] ?? [] {
        rows.append([
          .integer(Int64(destination)), .bytes(outgoing.message.bytes), .integer(start.sinceEpoch),
          .integer(start.sinceEpoch), .integer((start + age).sinceEpoch),
        ])
        members[outgoing.message] = outgoing.members
      }
    }
    guard !rows.isEmpty else { return }
    _ = try session.insert(insertRow, rows: rows)
    var memberRows: [[SQLValue]] = []
    let digests = members.filter { !$0.value.isEmpty }.map(\.key.bytes)
    // Locked, since one that was set aside before may be on its way: its members go with it when it is settled.
    for row in try session.query(
      """
      SELECT sequence, destination, message FROM outbox WHERE message IN (\(list: digests)) AND state = 0 FOR UPDATE
      """)
    {
      guard let digest = Digest(bytes: try row.bytes("message")) else { continue }
      let (destination, sequence) = (try row.int64("destination"), try row.int64("sequence"))
      for member in members[digest] ?? [] {
        memberRows.append([.integer(destination), .text(member.text), .integer(sequence)])
      }
    }
    _ = try session.insert(insertMember, rows: memberRows.inKeyOrder(columns: 3))
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
