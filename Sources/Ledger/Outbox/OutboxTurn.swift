package import Database
package import Time

/// What one transaction does at a destination: notes what came of attempts, then leases what may be sent next.
///
/// Turns of one destination happen one after the other, whichever processes make them.
package struct OutboxTurn: Sendable {
  package var settlements: [Settlement] = []
  /// How many rows are wanted of each class.
  package var wanted: [ProofClass: Int] = [:]
  /// Bytes of bodies that may be leased; the first row is leased whatever its size.
  package var bytes = 0
  /// Rows of a class that were due before this are not looked for.
  ///
  /// They are mostly gone, and the server steps over what is gone one by one until it is purged: for as long as a backup
  /// reads, that is everything that was sent since it began.
  package var since: [ProofClass: Milliseconds] = [:]

  package init() {}

  /// Who leases, when, and until when.
  package struct Lease: Sendable {
    package let owner: [UInt8]
    package let now: Milliseconds
    /// From then on another process may send what is leased.
    package let end: Milliseconds

    package init(owner: [UInt8], now: Milliseconds, end: Milliseconds) {
      self.owner = owner
      self.now = now
      self.end = end
    }
  }

  /// What came of a turn, once it is committed.
  package struct Outcome: Sendable {
    package var leased: [LeasedDelivery] = []
    /// Classes of which more may be due: as many as wanted were leased, or the search was cut off.
    package var unfinished: Set<ProofClass> = []
    /// How far the search came in each class: earlier rows were leased or blocked.
    package var reached: [ProofClass: Milliseconds] = [:]
    /// Since when the earliest row is due that became ready because another was settled.
    package var freedSince: Milliseconds?
    /// Rows have to be sorted before more can be leased.
    package var needsSorting = false

    package init() {}
  }
}

extension OutboxTable {
  /// Makes a turn; to be committed before anything that it leased is sent.
  package static func take(
    _ turn: OutboxTurn, at destination: Destination.ID, _ lease: OutboxTurn.Lease, in session: borrowing Session
  ) throws(DatabaseError) -> OutboxTurn.Outcome {
    var outcome = OutboxTurn.Outcome()
    try lock(destination, in: session)
    outcome.freedSince = try settle(turn.settlements, at: destination, now: lease.now, in: session)
    var bytes = turn.bytes
    for (proof, limit) in turn.wanted.sorted(by: { $0.key < $1.key }) where limit > 0 {
      let since = turn.since[proof].map { min($0, outcome.freedSince ?? $0) }
      try Self.lease(
        upTo: limit, of: proof, since: since, at: destination, lease, bytes: &bytes, &outcome, in: session)
    }
    return outcome
  }

  /// Waits until nobody else makes a turn at the destination, and keeps others from it until the transaction ends.
  static func lock(_ destination: Destination.ID, in session: borrowing Session) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO outbox_turns (destination, number) VALUES (\(destination.number), 1)
      ON DUPLICATE KEY UPDATE number = number + 1
      """)
  }

  /// Takes settled rows out of the order, and makes those ready that are first now; since when the earliest of them is
  /// due, nil when none became ready.
  static func release(
    _ settled: [Int64], at destination: Destination.ID, in session: borrowing Session
  ) throws(DatabaseError) -> Milliseconds? {
    let customers = try OutboxKeys.remove(settled, in: session)
    let heads = try OutboxKeys.heads(of: customers, at: destination.number, in: session)
    var blocked: [Int64] = []
    var earliest: Milliseconds?
    for part in heads.parts() {
      for row in try session.query(
        """
        SELECT sequence, due_at FROM outbox FORCE INDEX (PRIMARY)
        WHERE sequence IN (\(list: part)) AND state = 0 AND readiness = \(Readiness.blocked.rawValue)
        """)
      {
        blocked.append(try row.int64("sequence"))
        let due = try row.milliseconds("due_at")
        earliest = min(earliest ?? due, due)
      }
    }
    _ = try setReadiness(.ready, of: blocked, from: .blocked, in: session)
    return earliest
  }

  /// How many of the rows were waiting with the readiness `from` and have another one now.
  static func setReadiness(
    _ readiness: Readiness, of sequences: [Int64], from: Readiness, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    var changed = 0
    for part in sequences.parts() {
      changed += Int(
        try session.execute(
          """
          UPDATE outbox FORCE INDEX (PRIMARY) SET readiness = \(readiness.rawValue)
          WHERE sequence IN (\(list: part)) AND state = 0 AND readiness = \(from.rawValue)
          """
        ).affectedRows)
    }
    return changed
  }
}
