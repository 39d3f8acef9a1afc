import Database
package import Signing
package import Time

/// A row of the outbox that this process alone may send, until the lease ends.
package struct LeasedDelivery: Sendable {
  package let sequence: Int64
  package let destination: Destination.ID
  package let message: Digest
  package let proof: TrustLevel
  /// Bytes of the body, or a guess where they were not noted.
  package let size: Int
  /// This one included.
  package let attempt: Int
  package let createdAt: Timestamp
  /// A failure after it is final.
  package let expiresAt: Timestamp
  /// From then on another process may send it.
  package let leasedUntil: Timestamp
  package let owner: [UInt8]

  package init(
    sequence: Int64, destination: Destination.ID, message: Digest, proof: TrustLevel, size: Int, attempt: Int,
    createdAt: Timestamp, expiresAt: Timestamp, leasedUntil: Timestamp, owner: [UInt8]
  ) {
    self.sequence = sequence
    self.destination = destination
    self.message = message
    self.proof = proof
    self.size = size
    self.attempt = attempt
    self.createdAt = createdAt
    self.expiresAt = expiresAt
    self.leasedUntil = leasedUntil
    self.owner = owner
  }
}

extension OutboxTable {
  /// The most rows that are looked at in one search.
  private static let page = 256
  /// Searches of one turn: where one customer has much waiting, most of what is found is blocked.
  private static let searches = 8

  /// A row that may be leased, and since when it is due.
  private struct Candidate {
    let delivery: LeasedDelivery
    let dueAt: Timestamp
  }

  /// Leases up to `limit` ready rows of a class that are due and wait for nothing, and blocks or puts off the others that
  /// were looked at.
  static func lease(
    upTo limit: Int, of proof: TrustLevel, since: Timestamp?, at destination: Destination.ID,
    _ lease: OutboxTurn.Lease, bytes: Int, _ outcome: inout OutboxTurn.Outcome, in session: borrowing Session
  ) throws(DatabaseError) {
    var (left, bytes, isFirst) = (limit, bytes, true)
    for search in 0..<searches {
      // Where rows had to be blocked, most of what is found next will be: a customer's messages come one after the other.
      let looked = min(search == 0 ? left : max(4 * left, 64), page)
      let due = try due(proof, since: since, at: destination, lease, limit: looked, in: session)
      guard !due.isEmpty else { return }
      // After the search: what was committed before one of these rows was begun is seen here.
      guard let unsorted = try firstUnsorted(at: destination, in: session) else {
        outcome.needsSorting = true
        outcome.unfinished.insert(proof)
        return
      }
      outcome.needsSorting = outcome.needsSorting || unsorted < .max
      let waits = try Self.waits(among: due.map(\.delivery.sequence), at: destination, now: lease.now, in: session)
      if let since = waits.freed.since { outcome.freedSince = min(outcome.freedSince ?? since, since) }
      _ = try setReadiness(.blocked, of: waits.blocked.sorted(), from: .ready, in: session)
      try putOff(waits.held, in: session)
      let free = due.filter {
        !waits.blocked.contains($0.delivery.sequence) && waits.held[$0.delivery.sequence] == nil
      }
      let chosen = choose(from: free.prefix(left), before: unsorted, bytes: &bytes, isFirst: isFirst)
      isFirst = isFirst && chosen.isEmpty
      outcome.leased += try take(chosen, lease, in: session)
      left -= chosen.count
      let isCutOff = left == 0 || chosen.count < free.count
      if isCutOff { outcome.unfinished.insert(proof) }
      let next = free.first { candidate in !chosen.contains { $0.sequence == candidate.delivery.sequence } }
      outcome.reached[proof] = next?.dueAt ?? due.last?.dueAt
      guard due.count == looked, !isCutOff else { return }
    }
    outcome.unfinished.insert(proof)
  }

  /// Those that may be leased, the longest due first: before the first row without keys, and within the bytes; but one
  /// at least, whatever its size.
  private static func choose(
    from free: ArraySlice<Candidate>, before unsorted: Int64, bytes: inout Int, isFirst: Bool
  ) -> [LeasedDelivery] {
    var chosen: [LeasedDelivery] = []
    for delivery in free.lazy.map(\.delivery) where delivery.sequence < unsorted {
      guard delivery.size <= bytes || (chosen.isEmpty && isFirst) else { break }
      bytes -= delivery.size
      chosen.append(delivery)
    }
    return chosen
  }

  /// Ready rows of a class that are due, the longest due first.
  private static func due(
    _ proof: TrustLevel, since: Timestamp?, at destination: Destination.ID, _ lease: OutboxTurn.Lease, limit: Int,
    in session: borrowing Session
  ) throws(DatabaseError) -> [Candidate] {
    var due: [Candidate] = []
    for row in try session.query(
      """
      SELECT sequence, message, size, attempts, created_at, due_at, expires_at FROM outbox FORCE INDEX (by_readiness)
      WHERE destination = \(destination.number) AND state = 0 AND readiness = \(Readiness.ready.rawValue)
        AND class = \(proof.rawValue) AND due_at BETWEEN \(since ?? Timestamp(.min)) AND \(lease.now)
      ORDER BY due_at, sequence LIMIT \(limit)
      """)
    {
      guard let message = Digest(bytes: try row.bytes("message")) else { continue }
      let delivery = LeasedDelivery(
        sequence: try row.int64("sequence"), destination: destination, message: message, proof: proof,
        size: try Self.size(of: row), attempt: try row.int("attempts") + 1,
        createdAt: try row.milliseconds("created_at"),
        expiresAt: try row.milliseconds("expires_at"), leasedUntil: lease.end, owner: lease.owner)
      due.append(Candidate(delivery: delivery, dueAt: try row.milliseconds("due_at")))
    }
    return due
  }

  private static func size(of row: Row) throws(DatabaseError) -> Int {
    let size = try row.int("size")
    return size > 0 ? size : unknownSize
  }

  /// What counts for a body whose size was not noted, by a binary of the schema before.
  private static let unknownSize = 64 << 10

  /// Which of some rows have to wait.
  struct Waits {
    /// Those that wait until an earlier row is settled.
    var blocked: Set<Int64> = []
    /// Those that wait for claimed rows alone, and until when at most.
    var held: [Int64: Timestamp] = [:]
    /// Other rows that became ready, because the row before them turned out to wait no longer.
    var freed = Freed()
  }

  /// The rows among these that have to wait for an earlier one.
  static func waits(
    among sequences: [Int64], at destination: Destination.ID, now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Waits {
    var waits = Waits()
    var obstacles = try OutboxKeys.obstacles(of: sequences, in: session)
    // What is left to clear away after so many times the sweep finds.
    for _ in 0..<cleanings {
      let keys = Set(obstacles.values.flatMap(\.keys))
      let waiting = try Self.waiting(among: Set(keys.map(\.sequence)).sorted(), in: session)
      let stale = keys.filter { !waiting.contains($0.sequence) }
      guard !stale.isEmpty else { break }
      for key in stale { waits.freed.formUnion(try clean(key, at: destination, now: now, in: session)) }
      obstacles = try OutboxKeys.obstacles(of: sequences, in: session)
    }
    for (sequence, obstacles) in obstacles {
      if obstacles.predecessor != nil {
        waits.blocked.insert(sequence)
      } else if let last = obstacles.claimed.map(\.enqueuedAt).max() {
        // No longer than that from now, whatever the clock said of the process that enqueued it.
        let end = min(last, now) + claimedHold
        if end > now { waits.held[sequence] = end }
      }
    }
    return waits
  }

  /// How often one turn clears away what it finds in the way.
  private static let cleanings = 16

  /// Removes keys of rows that no longer wait: a binary of the schema before settles rows without their keys.
  private static func clean(
    _ key: OutboxKeys.Key, at destination: Destination.ID, now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Freed {
    let rows = try OutboxKeys.rows(from: key, in: session)
    let waiting = try Self.waiting(among: rows, in: session)
    return try release(rows.filter { !waiting.contains($0) }, at: destination, now: now, in: session)
  }

  /// Has ready rows wait until some time, or until what they wait for is settled.
  private static func putOff(_ held: [Int64: Timestamp], in session: borrowing Session) throws(DatabaseError) {
    for (end, rows) in Dictionary(grouping: held, by: \.value).sorted(by: { $0.key < $1.key }) {
      for part in rows.map(\.key).sorted().parts() {
        _ = try session.execute(
          """
          UPDATE outbox FORCE INDEX (PRIMARY) SET due_at = \(end), held = 1
          WHERE sequence IN (\(list: part)) AND state = 0 AND readiness = \(Readiness.ready.rawValue) AND owner IS NULL
          """)
      }
    }
  }

  /// Those among the rows that wait still.
  private static func waiting(
    among sequences: [Int64], in session: borrowing Session
  ) throws(DatabaseError) -> Set<Int64> {
    var waiting: Set<Int64> = []
    for part in sequences.parts() {
      for row in try session.query(
        "SELECT sequence FROM outbox FORCE INDEX (PRIMARY) WHERE sequence IN (\(list: part)) AND state = 0")
      {
        waiting.insert(try row.int64(0))
      }
    }
    return waiting
  }

  /// Notes the leases; those that were got, for a binary of the schema before may lease at the same moment.
  private static func take(
    _ deliveries: [LeasedDelivery], _ lease: OutboxTurn.Lease, in session: borrowing Session
  ) throws(DatabaseError) -> [LeasedDelivery] {
    guard !deliveries.isEmpty else { return [] }
    let sequences = deliveries.map(\.sequence).sorted()
    let taken = try session.execute(
      """
      UPDATE outbox FORCE INDEX (PRIMARY) SET owner = \(lease.owner), due_at = \(lease.end), attempts = attempts + 1, held = 0
      WHERE sequence IN (\(list: sequences)) AND state = 0 AND readiness = \(Readiness.ready.rawValue)
        AND due_at <= \(lease.now)
      """
    ).affectedRows
    if taken == UInt64(deliveries.count) { return deliveries }
    var ours: Set<Int64> = []
    for row in try session.query(
      """
      SELECT sequence FROM outbox FORCE INDEX (PRIMARY)
      WHERE sequence IN (\(list: sequences)) AND owner = \(lease.owner) AND due_at = \(lease.end)
      """)
    {
      ours.insert(try row.int64(0))
    }
    return deliveries.filter { ours.contains($0.sequence) }
  }
}
