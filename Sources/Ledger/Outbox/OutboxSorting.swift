package import Database
import Purchases
import Signing
import Time

/// Rows without keys, or with keys of before a rebuild: those that waited before the schema had them, those of an older binary, those that are replayed.
///
/// They are given their keys before anything newer is leased, in steps of a bounded size; so the order is kept.
extension OutboxTable {
  /// The most rows that one step sorts.
  package static let sortedAtOnce = 1_000

  /// The smallest sequence of a row without keys, the largest number there is when there is none; nil when there are
  /// more than one step sorts.
  static func firstUnsorted(
    at destination: Destination.ID, in session: borrowing Session
  ) throws(DatabaseError) -> Int64? {
    let rows = try session.query(
      """
      SELECT sequence FROM outbox FORCE INDEX (by_readiness)
      WHERE destination = \(destination.number) AND state = 0 AND readiness = \(Readiness.unsorted.rawValue)
      LIMIT \(sortedAtOnce + 1)
      """)
    guard rows.count <= sortedAtOnce else { return nil }
    var first = try rekeyed(at: destination, in: session).map { $0.after + 1 } ?? Int64.max
    for row in rows { first = min(first, try row.int64(0)) }
    return first
  }

  /// Sorts up to `sortedAtOnce` rows in a transaction of its own; how many.
  package static func sort(
    at destination: Destination, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    try lock(destination.id, in: session)
    try markForSorting(at: destination.id, in: session)
    var classes: [TrustLevel: [Int64]] = [:]
    var unknown: [Digest: Int64] = [:]
    var enqueued: [Int64: Timestamp] = [:]
    for row in try session.query(
      """
      SELECT sequence, message, class, created_at FROM outbox FORCE INDEX (by_readiness)
      WHERE destination = \(destination.id.number) AND state = 0 AND readiness = \(Readiness.unsorted.rawValue)
      LIMIT \(sortedAtOnce)
      """)
    {
      let sequence = try row.int64("sequence")
      enqueued[sequence] = try row.milliseconds("created_at")
      if let proof = TrustLevel(rawValue: try row.int("class")) {
        classes[proof, default: []].append(sequence)
      } else if let digest = Digest(bytes: try row.bytes("message")) {
        unknown[digest] = sequence
      }
    }
    for (digest, proof) in try proofs(of: unknown.keys.sorted { $0.hex < $1.hex }, in: session) {
      if let sequence = unknown[digest] { classes[proof, default: []].append(sequence) }
    }
    guard !classes.isEmpty else { return 0 }
    var rows: [Int64: (proof: TrustLevel, enqueuedAt: Timestamp)] = [:]
    for (proof, sequences) in classes {
      for sequence in sequences { rows[sequence] = (proof, enqueued[sequence] ?? Timestamp(.min)) }
    }
    try order(rows, at: destination, in: session)
    for (proof, sequences) in classes.sorted(by: { $0.key < $1.key }) {
      for part in sequences.sorted().parts() {
        _ = try session.execute(
          """
          UPDATE outbox FORCE INDEX (PRIMARY) SET readiness = \(Readiness.ready.rawValue), class = \(proof.rawValue)
          WHERE sequence IN (\(list: part)) AND state = 0 AND readiness = \(Readiness.unsorted.rawValue)
          """)
      }
    }
    return rows.count
  }

  /// How far the keys were made anew after a rebuild, and which sequence is the last to have them; nil when all have.
  private static func rekeyed(
    at destination: Destination.ID, in session: borrowing Session
  ) throws(DatabaseError) -> (after: Int64, through: Int64)? {
    let row = try session.query(
      "SELECT rekey_after, rekey_through FROM outbox_turns WHERE destination = \(destination.number)"
    ).first
    guard let row, let after = try row.optionalInt64("rekey_after"),
      let through = try row.optionalInt64("rekey_through")
    else { return nil }
    return (after, through)
  }

  /// Marks the next rows whose keys are of before a rebuild.
  private static func markForSorting(
    at destination: Destination.ID, in session: borrowing Session
  ) throws(DatabaseError) {
    guard let (after, through) = try rekeyed(at: destination, in: session) else { return }
    let sequences = try session.query(
      """
      SELECT sequence FROM outbox FORCE INDEX (in_order) WHERE destination = \(destination.number) AND state = 0
        AND sequence > \(after) AND sequence <= \(through) ORDER BY sequence LIMIT \(sortedAtOnce)
      """
    ).map { row throws(DatabaseError) in try row.int64(0) }
    for part in sequences.parts() {
      _ = try session.execute(
        """
        UPDATE outbox FORCE INDEX (PRIMARY) SET readiness = \(Readiness.unsorted.rawValue)
        WHERE sequence IN (\(list: part)) AND state = 0
        """)
    }
    let isDone = sequences.count < sortedAtOnce
    _ = try session.execute(
      """
      UPDATE outbox_turns SET rekey_after = \(isDone ? nil : sequences.last), number = number + 1
      WHERE destination = \(destination.number)
      """)
  }

  /// Gives the rows the keys of the customers they name, as these are called now.
  private static func order(
    _ rows: [Int64: (proof: TrustLevel, enqueuedAt: Timestamp)], at destination: Destination,
    in session: borrowing Session
  ) throws(DatabaseError) {
    let sequences = rows.keys.sorted()
    var members: Set<OutboxKeys.Member> = []
    for part in sequences.parts() {
      for row in try session.query(
        """
        SELECT m.sequence, m.member FROM \(.listed(part)) STRAIGHT_JOIN outbox_members m FORCE INDEX (sequence)
          ON m.sequence = listed.sequence
        """)
      {
        let sequence = try row.int64("sequence")
        guard let node = CustomerNode(text: try row.text("member")), let (proof, enqueuedAt) = rows[sequence]
        else { continue }
        members.insert(
          OutboxKeys.Member(
            destination: destination.id.number, proof: proof, sequence: sequence, enqueuedAt: enqueuedAt, node: node))
      }
    }
    _ = try OutboxKeys.remove(sequences, in: session)
    try OutboxKeys.insert(members, in: destination.scope, session)
  }

  /// What vouches for messages of which no class was noted: what is in the inbox with the date of a signature is Apple's,
  /// what is there without is V1's, all else was set aside.
  private static func proofs(
    of digests: [Digest], in session: borrowing Session
  ) throws(DatabaseError) -> [Digest: TrustLevel] {
    var proofs: [Digest: TrustLevel] = [:]
    for digest in digests { proofs[digest] = .unproven }
    for part in digests.map(\.bytes).parts() {
      for row in try session.query("SELECT digest, signed_at FROM inbox WHERE digest IN (\(list: part))") {
        guard let digest = Digest(bytes: try row.bytes("digest")) else { continue }
        proofs[digest] = try row.optionalInt64("signed_at") == nil ? .claimed : .proven
      }
    }
    return proofs
  }
}
