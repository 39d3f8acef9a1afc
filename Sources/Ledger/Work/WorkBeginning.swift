package import Database

extension HistoryJobTable {
  /// Notes that Apple is asked about these customers now, before it is; for each whether it is still to be asked.
  ///
  /// Not when whoever waits for an answer has taken the lease over, nor when another id's history has held one of its ids
  /// since: so of ids that nothing links only those are asked about twice that are at Apple's at the same moment. Doing
  /// it again changes nothing.
  package static func begin(
    _ customers: [LeasedHistoryJob], in session: borrowing Session
  ) throws(DatabaseError) -> [Bool] {
    let rows = Set(customers.flatMap(\.rows)).sorted()
    guard !rows.isEmpty else { return [] }
    var owners: [Int64: [UInt8]] = [:]
    for rows in rows.parts() {
      for row in try session.query(
        """
        SELECT id, owner FROM \(Table.work.by("PRIMARY"))
        WHERE id IN (\(list: rows)) AND state = 0 AND owner IS NOT NULL FOR UPDATE
        """
      ) {
        owners[try row.int64("id")] = try row.bytes("owner")
      }
    }
    let areOurs = customers.map { customer in customer.rows.allSatisfy { owners[$0] == customer.owner } }
    let begun = zip(customers, areOurs).flatMap { customer, isOurs in isOurs ? customer.rows : [] }
    try update(begun, "begun = 1", where: "TRUE", in: session)
    return areOurs
  }
}
