package import Database

extension HistoryJobTable {
  /// Records that these customers' lookups begin now, and returns for each whether to make the request.
  ///
  /// Not if a waiting caller took over the lease, or if another ID's history held one of its IDs meanwhile.
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
