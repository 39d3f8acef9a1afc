package import Database
import Purchases
package import Signing
package import Time

/// A row of the outbox that this process alone may send, until the lease ends.
package struct LeasedDelivery: Sendable {
  package let sequence: Int64
  package let destination: Destination.ID
  package let message: Digest
  /// This one included.
  package let attempt: Int
  package let createdAt: Milliseconds
  /// A failure after it is final.
  package let expiresAt: Milliseconds
  /// From then on another process may send it.
  package let leasedUntil: Milliseconds
  package let owner: [UInt8]
}

extension OutboxTable {
  /// The enabled destinations for which something waits, due or not.
  package static func destinationsWithWork(in session: borrowing Session) throws(DatabaseError) -> [Destination] {
    var waiting: Set<Destination.ID> = []
    for row in try session.query(
      """
      SELECT d.id FROM destinations d WHERE d.enabled = 1
      AND EXISTS (SELECT 1 FROM outbox o WHERE o.destination = d.id AND o.state = 0)
      """)
    {
      waiting.insert(Destination.ID(try row.int("id")))
    }
    return waiting.isEmpty ? [] : try DestinationTable.all(in: session).filter { waiting.contains($0.id) }
  }

  /// Leases up to `limit` rows of a destination that are due and wait for no earlier one of their customer.
  ///
  /// To be committed before anything is sent. Two rows of one customer are never leased at once, and never by two
  /// processes: the earlier one is waiting until it is settled, leased or not.
  package static func lease(
    from destination: Destination, limit: Int, until end: Milliseconds, owner: [UInt8], at now: Milliseconds,
    in session: borrowing Session
  ) throws(DatabaseError) -> [LeasedDelivery] {
    var due: [Int64] = []
    for row in try session.query(Self.due(from: destination, limit: limit, at: now)) {
      due.append(try row.int64("sequence"))
    }
    guard !due.isEmpty else { return [] }
    _ = try session.execute(
      """
      UPDATE outbox SET owner = \(owner), due_at = \(end), attempts = attempts + 1
      WHERE sequence IN (\(list: due)) AND state = 0 AND due_at <= \(now)
      """)
    var leased: [LeasedDelivery] = []
    for row in try session.query(
      """
      SELECT sequence, destination, message, attempts, created_at, expires_at FROM outbox
      WHERE sequence IN (\(list: due)) AND owner = \(owner) ORDER BY sequence
      """)
    {
      guard let message = Digest(bytes: try row.bytes("message")) else { continue }
      leased.append(
        LeasedDelivery(
          sequence: try row.int64("sequence"), destination: Destination.ID(try row.int("destination")),
          message: message, attempt: try row.int("attempts"), createdAt: try row.milliseconds("created_at"),
          expiresAt: try row.milliseconds("expires_at"), leasedUntil: end, owner: owner))
    }
    return leased
  }

  /// Rows in the order of their sequence, so that the search ends as soon as enough are found.
  private static func due(from destination: Destination, limit: Int, at now: Milliseconds) -> SQL {
    let (app, environment) = (destination.scope.app.number, destination.scope.environment.code)
    return """
      SELECT o.sequence FROM outbox o FORCE INDEX (in_order)
      WHERE o.destination = \(destination.id.number) AND o.state = 0 AND o.due_at <= \(now)
      AND NOT EXISTS (SELECT 1 FROM outbox_members m
        JOIN outbox_members e ON e.destination = m.destination AND e.member = m.member AND e.sequence < m.sequence
        JOIN outbox w ON w.sequence = e.sequence AND w.state = 0
        WHERE m.sequence = o.sequence)
      AND NOT EXISTS (SELECT 1 FROM outbox_members m
        JOIN customers c ON c.app = \(app) AND c.environment = \(environment) AND c.node = m.member
        JOIN customers s ON s.app = \(app) AND s.environment = \(environment) AND s.label = c.label
        JOIN outbox_members e ON e.destination = m.destination AND e.member = s.node AND e.sequence < m.sequence
        JOIN outbox w ON w.sequence = e.sequence AND w.state = 0
        WHERE m.sequence = o.sequence)
      ORDER BY o.sequence LIMIT \(limit)
      """
  }

  /// The bodies of messages that are to be sent: from the inbox, else from quarantine; a purged one is missing.
  package static func messages(
    _ digests: [Digest], for destination: Destination, in session: borrowing Session
  ) throws(DatabaseError) -> [Digest: StoredMessage] {
    var found: [Digest: StoredMessage] = [:]
    for stored in try InboxTable.find(digests, in: session) { found[stored.message.digest] = stored }
    for digest in digests where found[digest] == nil {
      let kept = try QuarantineTable.page(
        after: nil, code: nil, digestPrefix: digest.bytes, limit: 1, in: session)
      guard let kept = kept.first else { continue }
      found[digest] = StoredMessage(
        message: kept.message, app: destination.scope.app, bundleID: kept.claimedApp,
        environment: destination.scope.environment, signedAt: nil, title: kept.code)
    }
    return found
  }

  /// Notes that the destination has taken the message; whoever's lease it was, and however often it is noted.
  package static func settleDelivered(
    _ delivery: LeasedDelivery, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      UPDATE outbox SET state = \(State.delivered.rawValue), settled_at = \(now), error = NULL, owner = NULL
      WHERE sequence = \(delivery.sequence)
      """)
    _ = try session.execute("DELETE FROM outbox_members WHERE sequence = \(delivery.sequence)")
  }

  /// Notes a failure: tried again at `due`, or given up when that is nil.
  ///
  /// Of a lease that was lost nothing is noted.
  package static func settleFailed(
    _ delivery: LeasedDelivery, error: String, retryAt due: Milliseconds?, at now: Milliseconds,
    in session: borrowing Session
  ) throws(DatabaseError) {
    let state = due == nil ? State.dead : .waiting
    _ = try session.execute(
      """
      UPDATE outbox SET state = \(state.rawValue), due_at = \(due ?? now), error = \(error.cut(to: 255)),
        settled_at = \(due == nil ? now : nil), owner = NULL
      WHERE sequence = \(delivery.sequence) AND owner = \(delivery.owner) AND state = 0
      """)
  }

  /// Gives a lease back unused, as when the process stops; the attempt does not count.
  package static func release(
    _ deliveries: [LeasedDelivery], at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    for delivery in deliveries {
      _ = try session.execute(
        """
        UPDATE outbox SET due_at = \(now), owner = NULL, attempts = attempts - 1
        WHERE sequence = \(delivery.sequence) AND owner = \(delivery.owner) AND state = 0
        """)
    }
  }
}
