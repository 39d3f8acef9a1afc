package import Database
package import Signing
package import Time

/// A row of the outbox as an operator sees it.
package struct OutboxRow: Sendable {
  package let sequence: Int64
  package let destination: Destination.ID
  package let message: Digest
  package let state: OutboxTable.State
  package let attempts: Int
  package let createdAt: Timestamp
  /// When it is tried next, or its lease ends.
  package let dueAt: Timestamp
  package let isLeased: Bool
  /// Whether an earlier message of the same customer has to be delivered first.
  package let isBlocked: Bool
  /// Nil when an older binary wrote the row and it was not looked at yet.
  package let proof: TrustLevel?
  /// Why the last attempt failed.
  package let error: String?
}

/// How much waits for a destination and how much was given up.
package struct OutboxDepth: Hashable, Sendable {
  package var waiting = 0
  package var dead = 0
  /// When the oldest waiting row was written.
  package var oldest: Timestamp?
  /// Of the first hundred waiting rows those that the back end has refused.
  package var failing = 0
  /// What it answered to one of them.
  package var failure: String?

  package init() {}
}

extension OutboxTable {
  private static let countedFailing = 100

  /// What each destination has waiting and dead; destinations without either are absent.
  ///
  /// Counted in an index; the oldest is the one of the smallest sequence.
  package static func depths(in session: borrowing Session) throws(DatabaseError) -> [Destination.ID: OutboxDepth] {
    var depths: [Destination.ID: OutboxDepth] = [:]
    for row in try session.query(
      """
      SELECT destination, state, COUNT(*) AS count, MIN(sequence) AS first FROM outbox FORCE INDEX (in_order)
      WHERE destination IN (SELECT id FROM destinations) AND state IN (\(State.waiting.rawValue), \(State.dead.rawValue))
      GROUP BY destination, state
      """)
    {
      let id = Destination.ID(try row.int("destination"))
      let count = try row.int("count")
      guard State(rawValue: try row.int("state")) == .waiting else {
        depths[id, default: OutboxDepth()].dead = count
        continue
      }
      depths[id, default: OutboxDepth()].waiting = count
      let first = try session.query("SELECT created_at FROM outbox WHERE sequence = \(try row.int64("first"))").first
      depths[id, default: OutboxDepth()].oldest = try first?.milliseconds("created_at")
      let failing = try session.query(
        """
        SELECT COUNT(*) AS count, MAX(error) AS error FROM (
          SELECT error, attempts FROM outbox FORCE INDEX (in_order) WHERE destination = \(id.number)
          AND state = \(State.waiting.rawValue) ORDER BY sequence LIMIT \(countedFailing)) first
        WHERE attempts > 0
        """
      ).first
      depths[id, default: OutboxDepth()].failing = try failing?.int("count") ?? 0
      depths[id, default: OutboxDepth()].failure = try failing?.optionalText("error")
    }
    return depths
  }

  /// Which rows are meant; all conditions hold at once.
  package struct Selection: Sendable {
    /// None: of any.
    package var destinations: [Destination.ID] = []
    package var states: [State] = []
    /// The first bytes of a message's digest.
    package var digestPrefix: [UInt8]?
    package var proof: TrustLevel?
    /// A part of the last error; upper and lower case make no difference.
    package var reason: String?
    package var createdBefore: Timestamp?
    package var createdSince: Timestamp?

    package init() {}

    fileprivate var condition: SQL {
      var condition: SQL = "WHERE TRUE"
      if !destinations.isEmpty { condition += " AND destination IN (\(list: destinations.map(\.number)))" }
      if !states.isEmpty { condition += " AND state IN (\(list: states.map(\.rawValue)))" }
      if let digestPrefix {
        let end = digestPrefix + [UInt8](repeating: 0xFF, count: max(0, Digest.count - digestPrefix.count))
        condition += " AND message BETWEEN \(digestPrefix) AND \(end)"
      }
      if let proof { condition += " AND class = \(proof.rawValue)" }
      // As bytes: what stands for anything in LIKE is no wildcard here.
      if let reason { condition += " AND INSTR(LOWER(CONVERT(error USING utf8mb4)), LOWER(\(reason))) > 0" }
      if let createdBefore { condition += " AND created_at < \(createdBefore)" }
      if let createdSince { condition += " AND created_at >= \(createdSince)" }
      return condition
    }
  }

  /// The selected rows after `last`, in the order of their sequence.
  ///
  /// - Parameter newestFirst: in the opposite order, from the newest on.
  package static func rows(
    _ selection: Selection, after last: Int64 = 0, newestFirst: Bool = false, limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [OutboxRow] {
    let order: SQL = newestFirst ? "DESC" : "ASC"
    var rows: [OutboxRow] = []
    for row in try session.query(
      """
      SELECT sequence, destination, message, state, attempts, created_at, due_at, owner IS NOT NULL AS is_leased,
        state = \(State.waiting.rawValue) AND readiness = \(Readiness.blocked.rawValue) AS is_blocked, class, error
      FROM outbox \(selection.condition) AND sequence > \(last) ORDER BY sequence \(order) LIMIT \(limit)
      """)
    {
      guard let digest = Digest(bytes: try row.bytes("message")), let state = State(rawValue: try row.int("state"))
      else { throw DatabaseError(.column, "an outbox row that this build cannot read") }
      rows.append(
        OutboxRow(
          sequence: try row.int64("sequence"), destination: Destination.ID(try row.int("destination")),
          message: digest, state: state, attempts: try row.int("attempts"),
          createdAt: try row.milliseconds("created_at"), dueAt: try row.milliseconds("due_at"),
          isLeased: try row.bool("is_leased"), isBlocked: try row.bool("is_blocked"),
          proof: TrustLevel(rawValue: try row.int("class")), error: try row.optionalText("error")))
    }
    return rows
  }

  /// What became of rows that an operator chose.
  package struct Change: Hashable, Sendable {
    /// How many were changed.
    package var changed = 0
    /// How many unproven ones stay dead, because as many wait as may (`mostUnproven`).
    package var withoutRoom = 0

    package init() {}
  }

  /// Sends dead rows again, in their old places and for three days more; of unproven ones as many as there is room for.
  ///
  /// They are sorted like rows that never had a key: what waits behind them and is not on its way then waits for them.
  /// Unproven ones have no key.
  package static func replay(
    _ sequences: [Int64], at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Change {
    var (replayed, room, chosen): (Change, [Int: Int], [Int64]) = (Change(), [:], [])
    for row in try session.query(
      """
      SELECT sequence, destination, class FROM outbox FORCE INDEX (PRIMARY)
      WHERE sequence IN (\(list: sequences)) AND state = \(State.dead.rawValue) ORDER BY sequence
      """)
    {
      if try row.int("class") == TrustLevel.unproven.rawValue {
        let destination = try row.int("destination")
        if room[destination] == nil { room[destination] = try roomForUnproven(at: destination, in: session) }
        guard let left = room[destination], left > 0 else {
          replayed.withoutRoom += 1
          continue
        }
        room[destination] = left - 1
      }
      chosen.append(try row.int64("sequence"))
    }
    guard !chosen.isEmpty else { return replayed }
    let unproven = TrustLevel.unproven.rawValue
    replayed.changed = Int(
      try session.execute(
        """
        UPDATE outbox FORCE INDEX (PRIMARY) SET state = \(State.waiting.rawValue),
          readiness = IF(class = \(unproven), \(Readiness.ready.rawValue), \(Readiness.unsorted.rawValue)),
          attempts = 0, due_at = \(now), held = 0, expires_at = \(now + age), settled_at = NULL, owner = NULL
        WHERE sequence IN (\(list: chosen)) AND state = \(State.dead.rawValue)
        """
      ).affectedRows)
    return replayed
  }

  /// Gives waiting rows up, so that what waits behind them goes on; how many were waiting.
  package static func giveUp(
    _ sequences: [Int64], at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    var waiting: [Destination.ID: [Int64]] = [:]
    for row in try session.query(
      """
      SELECT sequence, destination FROM outbox FORCE INDEX (PRIMARY)
      WHERE sequence IN (\(list: sequences)) AND state = \(State.waiting.rawValue)
      """)
    {
      waiting[Destination.ID(try row.int("destination")), default: []].append(try row.int64("sequence"))
    }
    var count = 0
    for (destination, sequences) in waiting.sorted(by: { $0.key < $1.key }) {
      try lock(destination, in: session)
      for part in sequences.sorted().parts() {
        count += Int(
          try session.execute(
            """
            UPDATE outbox FORCE INDEX (PRIMARY) SET state = \(State.dead.rawValue), settled_at = \(now),
              error = 'given up by hand', owner = NULL
            WHERE sequence IN (\(list: part)) AND state = \(State.waiting.rawValue)
            """
          ).affectedRows)
      }
      // What was settled between the look and the lock has no keys any more.
      _ = try release(sequences, at: destination, now: now, in: session)
    }
    return count
  }

  /// Has every waiting row sorted anew, after customers were made anew: they may be called otherwise, or be others.
  ///
  /// It is noted once for each destination: a turn of seconds would keep what is sent from being noted.
  static func unsort(in session: borrowing Session) throws(DatabaseError) {
    for destination in try DestinationTable.all(in: session) {
      try lock(destination.id, in: session)
      _ = try session.execute(
        """
        UPDATE outbox_turns SET rekey_after = 0, rekey_through = (SELECT COALESCE(MAX(sequence), 0) FROM outbox)
        WHERE destination = \(destination.id.number)
        """)
    }
  }

  /// Forgets rows that were delivered before `instant`, at most `limit` of them; how many.
  ///
  /// Not those of messages in quarantine: a replay would send them once more.
  package static func purge(
    deliveredBefore instant: Timestamp, limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    let sequences = try session.query(
      """
      SELECT sequence FROM outbox WHERE state = \(State.delivered.rawValue) AND settled_at < \(instant)
      AND NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.digest = outbox.message) ORDER BY settled_at LIMIT \(limit)
      """
    ).map { row throws(DatabaseError) in try row.int64(0) }
    // Keys are there only of rows that a binary of the schema before has settled.
    _ = try OutboxKeys.remove(sequences, in: session)
    for part in sequences.sorted().parts() {
      _ = try session.execute(
        "DELETE FROM outbox WHERE sequence IN (\(list: part)) AND state = \(State.delivered.rawValue)")
    }
    return sequences.count
  }
}
