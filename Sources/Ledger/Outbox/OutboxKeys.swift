import Database
import Purchases
import Time

/// `outbox_keys`: the order of delivery at each destination.
///
/// From the commit that writes a waiting row until the commit that settles it, the row has a key for each customer it
/// names. The customer is called by its label, so that all of its purchases share one key. What a row waits for follows
/// from the keys alone (`obstacles`). Unproven rows have no keys: they wait for nothing and nothing waits for them.
enum OutboxKeys {
  /// A position in the order: this row waits under this customer.
  struct Key: Hashable {
    let destination: Int
    let customer: String
    let proof: TrustLevel
    let sequence: Int64
    let enqueuedAt: Timestamp

    fileprivate var columns: [SQLValue] {
      [
        .integer(Int64(destination)), .text(customer), .integer(Int64(proof.rawValue)), .integer(sequence),
        .integer(enqueuedAt.sinceEpoch),
      ]
    }
  }

  /// A node that a row names.
  struct Member: Hashable {
    let destination: Int
    let proof: TrustLevel
    let sequence: Int64
    let enqueuedAt: Timestamp
    let node: CustomerNode

    fileprivate func key(_ labels: [CustomerNode: String]) -> Key {
      Key(
        destination: destination, customer: labels[node] ?? node.text, proof: proof, sequence: sequence,
        enqueuedAt: enqueuedAt)
    }
  }

  private static let insertKey = BulkInsert(
    into: "INSERT INTO outbox_keys (destination, customer, class, sequence, enqueued_at) VALUES",
    then: "ON DUPLICATE KEY UPDATE customer = VALUES(customer)", repeatsLast: true)

  private static func insert(_ keys: Set<Key>, in session: borrowing Session) throws(DatabaseError) {
    _ = try session.insert(insertKey, rows: keys.map(\.columns).inKeyOrder(columns: 4))
  }

  /// Puts rows into the order, under the customers whom they name; who is there stays.
  ///
  /// A join that is under way meanwhile either finds the keys and moves them, or is waited for. Nodes without a link have no
  /// row that could be locked: their labels are read once more when the keys are there for a join to find.
  static func insert(_ members: Set<Member>, in scope: AppScope, _ session: borrowing Session) throws(DatabaseError) {
    let members = members.filter { $0.proof != .unproven }
    guard !members.isEmpty else { return }
    let nodes = Set(members.map(\.node))
    let labels = try CustomerTable.labels(of: nodes, in: scope, session)
    try insert(Set(members.map { $0.key(labels) }), in: session)
    let unlinked = nodes.filter { labels[$0] == nil }
    guard !unlinked.isEmpty else { return }
    let joined = try CustomerTable.labels(of: unlinked, in: scope, session)
    for member in members where joined[member.node] != nil && member.key(joined) != member.key([:]) {
      _ = try session.execute(
        """
        DELETE FROM outbox_keys WHERE destination = \(member.destination) AND customer = \(member.node.text)
        AND class = \(member.proof.rawValue) AND sequence = \(member.sequence)
        """)
      try insert([member.key(joined)], in: session)
    }
  }

  /// Takes the rows out of the order; the customers under whom they waited.
  ///
  /// The keys are locked before they are read: a join of customers that moves them at this moment is waited for, and so
  /// the customers are called as they are from now on. Keys that it moved to where this had looked already are found to
  /// be missing: `recordChanged`, and the transaction is made again.
  static func remove(_ sequences: [Int64], in session: borrowing Session) throws(DatabaseError) -> Set<String> {
    var customers: Set<String> = []
    // One row may be settled by several outcomes of one turn.
    for part in Set(sequences).sorted().parts() {
      let rows = try session.query(
        """
        SELECT k.customer FROM \(.listed(part)) STRAIGHT_JOIN outbox_keys k FORCE INDEX (by_sequence)
          ON k.sequence = listed.sequence FOR UPDATE
        """)
      for row in rows { customers.insert(try row.text(0)) }
      guard try session.execute(Self.deletion(of: part)).affectedRows == UInt64(rows.count) else {
        throw DatabaseError(.recordChanged, "customers joined while their messages were settled")
      }
    }
    return customers
  }

  private static func deletion(of sequences: [Int64]) -> SQL {
    """
    DELETE k FROM \(.listed(sequences)) STRAIGHT_JOIN outbox_keys k FORCE INDEX (by_sequence)
      ON k.sequence = listed.sequence
    """
  }

  /// The first rows that wait under a customer; nil where none of the class does.
  struct Heads: Hashable {
    var proven: Int64?
    var claimed: Int64?
  }

  /// The first row of each class that waits under each of these customers.
  static func heads(
    of customers: Set<String>, at destination: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [Heads] {
    var heads: [String: Heads] = [:]
    let lookUps = customers.sorted().flatMap { customer in
      [TrustLevel.proven, .claimed].map { proof -> SQL in
        """
        (SELECT customer, class, sequence FROM outbox_keys FORCE INDEX (PRIMARY)
        WHERE destination = \(destination) AND customer = \(customer) AND class = \(proof.rawValue)
        ORDER BY sequence LIMIT 1)
        """
      }
    }
    for row in try Self.rows(of: lookUps, in: session) {
      let (customer, sequence) = (try row.text("customer"), try row.int64("sequence"))
      if try row.int("class") == TrustLevel.proven.rawValue {
        heads[customer, default: Heads()].proven = sequence
      } else {
        heads[customer, default: Heads()].claimed = sequence
      }
    }
    return Array(heads.values)
  }

  /// The rows that the look-ups find: one index look-up for each, whatever the optimiser thinks, since they are parts of a
  /// UNION whose keys are constants.
  private static func rows(of lookUps: [SQL], in session: borrowing Session) throws(DatabaseError) -> [Row] {
    var rows: [Row] = []
    for part in lookUps.parts(of: 64) {
      // Repeated up to a power of two, as lists are: otherwise every number were a statement of its own to prepare.
      var padded = Array(part)
      while padded.count & (padded.count - 1) != 0, let last = padded.last { padded.append(last) }
      rows += try session.query(padded.joined(separator: " UNION ALL "))
    }
    return rows
  }

  /// The earlier rows for which a row has to wait.
  struct Obstacles {
    /// The key of the earliest row that has to be settled first, however long that takes.
    var predecessor: Key?
    /// For a proven row: of each customer the key of the last claimed row before it.
    var claimed: [Key] = []

    var keys: [Key] { (predecessor.map { [$0] } ?? []) + claimed }
  }

  /// What is in the way of those of these rows that have to wait.
  ///
  /// A proven row waits for earlier proven rows of its customers. It also waits for earlier claimed ones, but not for long:
  /// anybody with the shared secret can make claimed rows that no back end accepts. A claimed row waits for both.
  static func obstacles(
    of sequences: [Int64], in session: borrowing Session
  ) throws(DatabaseError) -> [Int64: Obstacles] {
    var obstacles: [Int64: Obstacles] = [:]
    var unread = sequences
    // Customers may join between two statements: then the keys are under another customer than a moment ago.
    for _ in 0..<mostReadings where !unread.isEmpty {
      let (read, moved) = try self.read(obstaclesOf: unread, in: session)
      for sequence in unread { obstacles[sequence] = read[sequence] }
      unread = moved
    }
    guard unread.isEmpty else {
      throw DatabaseError(.recordChanged, "customers joined again and again while their messages were looked for")
    }
    return obstacles
  }

  private static let mostReadings = 8

  /// What is in the way of rows, and those of them whose keys were moved before all was read.
  private static func read(
    obstaclesOf sequences: [Int64], in session: borrowing Session
  ) throws(DatabaseError) -> (obstacles: [Int64: Obstacles], moved: [Int64]) {
    var obstacles: [Int64: Obstacles] = [:]
    var behindClaimed: [(sequence: Int64, destination: Int, customer: String)] = []
    for part in sequences.parts() {
      for row in try session.query(
        """
        SELECT k.sequence, k.class, k.destination, k.customer,
          \(Self.head(of: .proven)) AS proven, \(Self.head(of: .claimed)) AS claimed
        FROM \(.listed(part)) STRAIGHT_JOIN outbox_keys k FORCE INDEX (by_sequence) ON k.sequence = listed.sequence
        """)
      {
        let (sequence, destination) = (try row.int64("sequence"), try row.int("destination"))
        let customer = try row.text("customer")
        let isProven = try row.int("class") == TrustLevel.proven.rawValue
        let proven = try row.optionalInt64("proven").flatMap { $0 < sequence ? $0 : nil }
        let claimed = try row.optionalInt64("claimed").flatMap { $0 < sequence ? $0 : nil }
        if isProven, claimed != nil { behindClaimed.append((sequence, destination, customer)) }
        let (head, proof): (Int64?, TrustLevel) =
          switch (proven, isProven ? nil : claimed) {
          case (let proven?, let claimed?): proven < claimed ? (proven, .proven) : (claimed, .claimed)
          case (let proven?, nil): (proven, .proven)
          case (nil, let claimed): (claimed, .claimed)
          }
        guard let head, head < obstacles[sequence]?.predecessor?.sequence ?? .max else { continue }
        obstacles[sequence, default: Obstacles()].predecessor = Key(
          destination: destination, customer: customer, proof: proof, sequence: head, enqueuedAt: Timestamp(.min))
      }
    }
    let lookUps = behindClaimed.map { sequence, destination, customer -> SQL in
      """
      (SELECT CAST(\(sequence) AS SIGNED) AS behind, destination, customer, sequence, enqueued_at
      FROM outbox_keys FORCE INDEX (PRIMARY) WHERE destination = \(destination) AND customer = \(customer)
      AND class = \(TrustLevel.claimed.rawValue) AND sequence < \(sequence) ORDER BY sequence DESC LIMIT 1)
      """
    }
    var found: [Int64: Set<String>] = [:]
    for row in try Self.rows(of: lookUps, in: session) {
      let (behind, customer) = (try row.int64("behind"), try row.text("customer"))
      // The last look-ups of a statement may be the same one.
      guard found[behind, default: []].insert(customer).inserted else { continue }
      obstacles[behind, default: Obstacles()].claimed.append(
        Key(
          destination: try row.int("destination"), customer: customer, proof: .claimed,
          sequence: try row.int64("sequence"), enqueuedAt: try row.milliseconds("enqueued_at")))
    }
    let moved = Set(behindClaimed.lazy.filter { found[$0.sequence]?.contains($0.customer) != true }.map(\.sequence))
    return (obstacles, moved.sorted())
  }

  /// The first row of a class under the customer of the key `k`.
  private static func head(of proof: TrustLevel) -> SQL {
    // All columns of the index are in the ORDER BY: MySQL sorts the customer's whole queue otherwise.
    """
    (SELECT n.sequence FROM outbox_keys n FORCE INDEX (PRIMARY)
      WHERE n.destination = k.destination AND n.customer = k.customer AND n.class = \(proof.rawValue)
      ORDER BY n.destination, n.customer, n.class, n.sequence LIMIT 1)
    """
  }

  /// The rows of the key's class under its customer, from the key on: as many as one statement lists.
  static func rows(from key: Key, in session: borrowing Session) throws(DatabaseError) -> [Int64] {
    try session.query(
      """
      SELECT sequence FROM outbox_keys FORCE INDEX (PRIMARY)
      WHERE destination = \(key.destination) AND customer = \(key.customer) AND class = \(key.proof.rawValue)
      AND sequence >= \(key.sequence) ORDER BY sequence LIMIT 512
      """
    ).map { row throws(DatabaseError) in try row.int64(0) }
  }

  /// Moves what waits under labels that customers have lost to the labels they have now.
  ///
  /// Called where customers join, in the same transaction: from its commit on, newer rows of the joined customer wait
  /// for the older rows of both. Which of two rows may go that could both go before is decided when they are leased.
  static func rename(_ labels: [String: String], in scope: AppScope, _ session: borrowing Session) throws(DatabaseError)
  {
    guard !labels.isEmpty else { return }
    var destinations: [Int] = []
    for row in try session.query(
      "SELECT id FROM destinations WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)")
    {
      destinations.append(try row.int(0))
    }
    for destination in destinations {
      var moved: Set<Key> = []
      for part in labels.keys.sorted().parts() {
        for row in try session.query(
          """
          SELECT customer, class, sequence, enqueued_at FROM outbox_keys FORCE INDEX (PRIMARY)
          WHERE destination = \(destination) AND customer IN (\(list: part)) FOR UPDATE
          """)
        {
          guard let label = labels[try row.text("customer")], let proof = TrustLevel(rawValue: try row.int("class"))
          else { continue }
          moved.insert(
            Key(
              destination: destination, customer: label, proof: proof, sequence: try row.int64("sequence"),
              enqueuedAt: try row.milliseconds("enqueued_at")))
        }
        guard !moved.isEmpty else { continue }
        _ = try session.execute(
          """
          DELETE k FROM \(.listed(part)) STRAIGHT_JOIN outbox_keys k FORCE INDEX (PRIMARY)
            ON k.destination = \(destination) AND k.customer = listed.wanted
          """)
      }
      try insert(moved, in: session)
    }
  }
}
