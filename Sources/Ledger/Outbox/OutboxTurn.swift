package import Database
package import Time

/// What one transaction does at a destination: notes what came of attempts, then leases what may be sent next.
///
/// Turns of one destination happen one after the other, whichever processes make them.
package struct OutboxTurn: Sendable {
  package var settlements: [Settlement] = []
  /// How many rows are wanted of each class.
  package var wanted: [TrustLevel: Int] = [:]
  /// Bytes of bodies that may be leased of each class; its first row is leased whatever its size.
  package var bytes: [TrustLevel: Int] = [:]
  /// Rows of a class that were due before this are not looked for.
  ///
  /// They are mostly gone, and the server steps over what is gone one by one until it is purged: for as long as a backup
  /// reads, that is everything that was sent since it began.
  package var since: [TrustLevel: Timestamp] = [:]

  package init() {}

  /// Who leases, when, and until when.
  package struct Lease: Sendable {
    package let owner: [UInt8]
    package let now: Timestamp
    /// From then on another process may send what is leased.
    package let end: Timestamp

    package init(owner: [UInt8], now: Timestamp, end: Timestamp) {
      self.owner = owner
      self.now = now
      self.end = end
    }
  }

  /// What came of a turn, once it is committed.
  package struct Outcome: Sendable {
    package var leased: [LeasedDelivery] = []
    /// Classes of which more may be due: as many as wanted were leased, or the search was cut off.
    package var unfinished: Set<TrustLevel> = []
    /// How far the search came in each class: earlier rows were leased or blocked.
    package var reached: [TrustLevel: Timestamp] = [:]
    /// Since when the earliest row is due that became ready because another was settled.
    package var freedSince: Timestamp?
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
    outcome.freedSince = try settle(turn.settlements, at: destination, now: lease.now, in: session).since
    for (proof, limit) in turn.wanted.sorted(by: { $0.key < $1.key }) where limit > 0 {
      let since = turn.since[proof].map { min($0, outcome.freedSince ?? $0) }
      try Self.lease(
        upTo: limit, of: proof, since: since, at: destination, lease, bytes: turn.bytes[proof] ?? 0, &outcome,
        in: session)
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

  /// Rows that may go because others no longer wait.
  struct Freed: Sendable {
    /// How many were blocked.
    var count = 0
    /// Since when the earliest of them is due; nil when there is none.
    var since: Timestamp?

    mutating func note(due: Timestamp) { since = min(since ?? due, due) }

    mutating func formUnion(_ other: Self) {
      count += other.count
      if let due = other.since { note(due: due) }
    }
  }

  /// Takes rows that no longer wait out of the order, and makes those ready that are first now.
  ///
  /// A proven row that is put off because of claimed rows is due at once when the last of them is gone.
  static func release(
    _ settled: [Int64], at destination: Destination.ID, now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Freed {
    let customers = try OutboxKeys.remove(settled, in: session)
    let heads = try OutboxKeys.heads(of: customers, at: destination.number, in: session)
    var (first, unheld): (Set<Int64>, Set<Int64>) = ([], [])
    for head in heads {
      if let proven = head.proven {
        first.insert(proven)
        if proven < head.claimed ?? .max { unheld.insert(proven) }
      }
      if let claimed = head.claimed, claimed < head.proven ?? .max { first.insert(claimed) }
    }
    var (blocked, early): ([Int64], [Int64]) = ([], [])
    var freed = Freed()
    for part in first.sorted().parts() {
      for row in try session.query(
        """
        SELECT sequence, due_at, readiness, held AND owner IS NULL AS is_held FROM outbox FORCE INDEX (PRIMARY)
        WHERE sequence IN (\(list: part)) AND state = 0
        """)
      {
        let (sequence, due) = (try row.int64("sequence"), try row.milliseconds("due_at"))
        if try row.int("readiness") == Readiness.blocked.rawValue {
          blocked.append(sequence)
          freed.note(due: due)
        }
        guard unheld.contains(sequence), try row.bool("is_held") else { continue }
        early.append(sequence)
        freed.note(due: min(due, now))
      }
    }
    freed.count = try setReadiness(.ready, of: blocked, from: .blocked, in: session)
    for part in early.parts() {
      _ = try session.execute(
        """
        UPDATE outbox FORCE INDEX (PRIMARY) SET due_at = LEAST(due_at, \(now)), held = 0
        WHERE sequence IN (\(list: part)) AND state = 0 AND owner IS NULL
        """)
    }
    return freed
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
