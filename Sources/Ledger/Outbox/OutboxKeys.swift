import Database
import Purchases

/// `outbox_keys`: the order of delivery at each destination.
///
/// From the commit that writes a waiting row until the commit that settles it, the row has a key for each customer it
/// names. The customer is called by its label, so that all of its purchases share one key. A row may be sent when no
/// smaller sequence has one of its keys.
enum OutboxKeys {
  /// A place in the order: this row waits under this customer.
  struct Key: Hashable {
    let destination: Int
    let customer: String
    let sequence: Int64

    fileprivate var columns: [SQLValue] {
      [.integer(Int64(destination)), .text(customer), .integer(sequence)]
    }
  }

  /// A node that a row names.
  struct Member: Hashable {
    let destination: Int
    let sequence: Int64
    let node: CustomerNode

    fileprivate func key(_ labels: [CustomerNode: String]) -> Key {
      Key(destination: destination, customer: labels[node] ?? node.text, sequence: sequence)
    }
  }

  private static let insertKey = RowsInsert(
    into: "INSERT INTO outbox_keys (destination, customer, sequence) VALUES",
    then: "ON DUPLICATE KEY UPDATE customer = VALUES(customer)")

  private static func insert(_ keys: Set<Key>, in session: borrowing Session) throws(DatabaseError) {
    _ = try session.insert(insertKey, rows: keys.map(\.columns).inKeyOrder(columns: 3))
  }

  /// Puts rows into the order, under the customers whom they name; who is there stays.
  ///
  /// A join that is under way meanwhile either finds the keys and moves them, or is waited for. Nodes without a link have no
  /// row that could be locked: their labels are read once more when the keys are there for a join to find.
  static func insert(
    _ members: Set<Member>, in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) {
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
        AND sequence = \(member.sequence)
        """)
      try insert([member.key(joined)], in: session)
    }
  }

  /// Takes the rows out of the order; the customers under whom they waited.
  ///
  /// The keys are locked before they are read: a join of customers that moves them at this moment is waited for, and so
  /// the customers are called as they are from now on.
  static func remove(_ sequences: [Int64], in session: borrowing Session) throws(DatabaseError) -> Set<String> {
    var customers: Set<String> = []
    for part in sequences.sorted().parts() {
      for row in try session.query(
        "SELECT customer FROM outbox_keys FORCE INDEX (by_sequence) WHERE sequence IN (\(list: part)) FOR UPDATE")
      {
        customers.insert(try row.text(0))
      }
      _ = try session.execute(Self.deletion(of: part))
    }
    return customers
  }

  // With two tables' grammar, since a DELETE from one table takes no index hint.
  private static func deletion(of sequences: [Int64]) -> SQL {
    "DELETE k FROM outbox_keys k FORCE INDEX (by_sequence) WHERE k.sequence IN (\(list: sequences))"
  }

  /// The first row that waits under each of these customers.
  ///
  /// One index look-up for each, whatever the optimiser thinks: parts of a UNION whose keys are constants.
  static func heads(
    of customers: Set<String>, at destination: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [Int64] {
    var heads: Set<Int64> = []
    for part in customers.sorted().parts(of: 64) {
      // Repeated up to a power of two, as lists are: otherwise every number were a statement of its own to prepare.
      var padded = part
      while padded.count & (padded.count - 1) != 0, let last = padded.last { padded.append(last) }
      let lookUps = padded.map { customer -> SQL in
        """
        (SELECT sequence FROM outbox_keys FORCE INDEX (PRIMARY)
        WHERE destination = \(destination) AND customer = \(customer) ORDER BY sequence LIMIT 1)
        """
      }
      for row in try session.query(lookUps.joined(separator: " UNION ALL ")) { heads.insert(try row.int64(0)) }
    }
    return heads.sorted()
  }

  /// For each of these rows that has to wait: the key of the earliest row that is in its way.
  static func predecessors(
    of sequences: [Int64], in session: borrowing Session
  ) throws(DatabaseError) -> [Int64: Key] {
    var predecessors: [Int64: Key] = [:]
    for part in sequences.parts() {
      // All columns of the index are in the ORDER BY: MySQL sorts the customer's whole queue otherwise.
      for row in try session.query(
        """
        SELECT k.sequence, k.destination, k.customer, (SELECT n.sequence FROM outbox_keys n FORCE INDEX (PRIMARY)
          WHERE n.destination = k.destination AND n.customer = k.customer
          ORDER BY n.destination, n.customer, n.sequence LIMIT 1) AS head
        FROM outbox_keys k FORCE INDEX (by_sequence) WHERE k.sequence IN (\(list: part))
        """)
      {
        let (sequence, head) = (try row.int64("sequence"), try row.int64("head"))
        guard head < sequence, head < predecessors[sequence]?.sequence ?? .max else { continue }
        predecessors[sequence] = Key(
          destination: try row.int("destination"), customer: try row.text("customer"), sequence: head)
      }
    }
    return predecessors
  }

  /// The first rows under a customer, as many as one statement lists.
  static func first(
    of customer: String, at destination: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [Int64] {
    try session.query(
      """
      SELECT sequence FROM outbox_keys FORCE INDEX (PRIMARY)
      WHERE destination = \(destination) AND customer = \(customer) ORDER BY sequence LIMIT 512
      """
    ).map { row throws(DatabaseError) in try row.int64(0) }
  }

  /// Moves what waits under labels that customers have lost to the labels they have now.
  ///
  /// Called where customers join, in the same transaction: from its commit on, newer rows of the joined customer wait
  /// for the older rows of both. Which of two rows may go that could both go before is decided when they are leased.
  static func rename(
    _ labels: [String: String], in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) {
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
          SELECT customer, sequence FROM outbox_keys FORCE INDEX (PRIMARY)
          WHERE destination = \(destination) AND customer IN (\(list: part)) FOR UPDATE
          """)
        {
          guard let label = labels[try row.text(0)] else { continue }
          moved.insert(Key(destination: destination, customer: label, sequence: try row.int64(1)))
        }
        guard !moved.isEmpty else { continue }
        _ = try session.execute(
          """
          DELETE k FROM outbox_keys k FORCE INDEX (PRIMARY)
          WHERE k.destination = \(destination) AND k.customer IN (\(list: part))
          """)
      }
      try insert(moved, in: session)
    }
  }
}
