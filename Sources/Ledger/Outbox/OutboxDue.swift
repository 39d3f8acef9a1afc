package import Database
package import Time

/// A destination, and what could be done for it at some moment.
package struct DueWork: Sendable {
  package let destination: Destination
  /// Classes of which a row is ready and due.
  package let due: Set<TrustLevel>
  /// Rows wait that have no keys yet.
  package let needsSorting: Bool

  package var isEmpty: Bool { due.isEmpty && !needsSorting }
}

extension OutboxTable {
  /// Every destination with what is due for it; nothing is due for one that is not enabled.
  ///
  /// One index look-up for each destination and class.
  package static func due(at now: Timestamp, in session: borrowing Session) throws(DatabaseError) -> [DueWork] {
    let isDue = TrustLevel.allCases.map { proof -> SQL in
      """
      EXISTS (SELECT 1 FROM outbox o FORCE INDEX (by_readiness) WHERE o.destination = d.id AND o.state = 0
        AND o.readiness = \(Readiness.ready.rawValue) AND o.class = \(proof.rawValue) AND o.due_at <= \(now))
      """
    }
    var work: [DueWork] = []
    for row in try session.query(
      """
      SELECT d.id, d.app, d.environment, d.name, d.url, d.form, d.enabled, \(isDue[0]) AS proven, \(isDue[1]) AS claimed,
        \(isDue[2]) AS unproven,
        EXISTS (SELECT 1 FROM outbox_turns t WHERE t.destination = d.id AND t.rekey_after IS NOT NULL) OR EXISTS (SELECT 1 FROM outbox o FORCE INDEX (by_readiness) WHERE o.destination = d.id
        AND o.state = 0 AND o.readiness = \(Readiness.unsorted.rawValue)) AS unsorted FROM destinations d ORDER BY d.id
      """)
    {
      let destination = try DestinationTable.destination(of: row)
      guard destination.isEnabled else {
        work.append(DueWork(destination: destination, due: [], needsSorting: false))
        continue
      }
      var due: Set<TrustLevel> = []
      if try row.bool("proven") { due.insert(.proven) }
      if try row.bool("claimed") { due.insert(.claimed) }
      if try row.bool("unproven") { due.insert(.unproven) }
      work.append(DueWork(destination: destination, due: due, needsSorting: try row.bool("unsorted")))
    }
    return work
  }
}
