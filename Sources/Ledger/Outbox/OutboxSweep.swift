package import Database
package import Time

/// The safety net of the order: finds blocked rows whose reason is gone.
///
/// Whatever settles a row wakes the row behind it in the same transaction, so that this finds nothing: but where a binary
/// of the schema before settled a row, or where two nodes of a cluster wrote at the same moment what neither could see.
extension OutboxTable {
  /// How far a sweep has come.
  package struct SweepCursor: Hashable, Sendable {
    var proof: Int
    var dueAt: Int64
    var sequence: Int64

    static let start = SweepCursor(proof: 0, dueAt: .min, sequence: 0)
  }

  package struct SweepStep: Sendable {
    /// Rows that were blocked without a reason.
    package var freed = 0
    /// Where to go on; nil at the end.
    package var next: SweepCursor?
  }

  /// Looks at up to `limit` blocked rows after `cursor`, and makes those ready that nothing blocks; in a transaction of
  /// its own.
  package static func sweep(
    _ destination: Destination, after cursor: SweepCursor?, limit: Int, at now: Timestamp,
    in session: borrowing Session
  ) throws(DatabaseError) -> SweepStep {
    let cursor = cursor ?? .start
    var rows: [SweepCursor] = []
    for proof in max(0, cursor.proof)...TrustLevel.unproven.rawValue where rows.count < limit {
      let (dueAt, sequence) = proof == cursor.proof ? (cursor.dueAt, cursor.sequence) : (Int64.min, Int64(0))
      for row in try session.query(
        """
        SELECT due_at, sequence FROM outbox FORCE INDEX (by_readiness)
        WHERE destination = \(destination.id.number) AND state = 0 AND readiness = \(Readiness.blocked.rawValue)
          AND class = \(proof) AND due_at >= \(dueAt) AND (due_at > \(dueAt) OR sequence > \(sequence))
        ORDER BY due_at, sequence LIMIT \(limit - rows.count)
        """)
      {
        rows.append(SweepCursor(proof: proof, dueAt: try row.int64(0), sequence: try row.int64(1)))
      }
    }
    guard !rows.isEmpty else { return SweepStep() }
    // Afterwards: who finds nothing holds up nobody.
    try lock(destination.id, in: session)
    let sequences = rows.map(\.sequence)
    let renamed = try Self.renamed(among: sequences, at: destination, in: session)
    var freed = try setReadiness(.unsorted, of: renamed.sorted(), from: .blocked, in: session)
    let others = sequences.filter { !renamed.contains($0) }
    let waits = try Self.waits(among: others, at: destination.id, now: now, in: session)
    freed += waits.freed.count
    freed += try setReadiness(
      .ready, of: others.filter { !waits.blocked.contains($0) }.sorted(), from: .blocked, in: session)
    return SweepStep(freed: freed, next: rows.count == limit ? rows.last : nil)
  }

  /// The rows among these that wait under a label which their customer no longer has.
  private static func renamed(
    among sequences: [Int64], at destination: Destination, in session: borrowing Session
  ) throws(DatabaseError) -> Set<Int64> {
    var renamed: Set<Int64> = []
    let scope = destination.scope
    for part in sequences.parts() {
      for row in try session.query(
        """
        SELECT k.sequence FROM \(.listed(part))
        STRAIGHT_JOIN outbox_keys k FORCE INDEX (by_sequence) ON k.sequence = listed.sequence
        STRAIGHT_JOIN customers c FORCE INDEX (PRIMARY)
          ON c.app = \(scope.app.number) AND c.environment = \(scope.environment.code) AND c.node = k.customer
        WHERE c.label <> k.customer
        """)
      {
        renamed.insert(try row.int64(0))
      }
    }
    return renamed
  }
}
