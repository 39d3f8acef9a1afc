package import Database
package import Signing

extension LedgerStore {
  /// Forwards messages that stay in quarantine, because an operator asks for it; returns those that are in the outbox now
  /// and were not before.
  ///
  /// What was forwarded already is not forwarded again. As many wait for
  /// a destination as it has room for (`OutboxTable.mostUnproven`); the others can be replayed later.
  ///
  /// - Parameter entries: each with its addressee; the others are left out.
  package func forward(setAside entries: [LedgerEntry]) async throws(DatabaseError) -> Set<Digest> {
    let addressed = entries.filter { $0.addressee != nil && !$0.isAccepted }
    guard !addressed.isEmpty else { return [] }
    return try await pool.transaction(replayable: true) { session throws(DatabaseError) in
      let roads = try OutboxTable.roads(of: Set(addressed.compactMap { $0.addressee?.scope.app }), in: session)
      let before = try OutboxTable.queued(addressed, roads, in: session)
      let new = addressed.filter { !before.contains($0.message.digest) }
      try OutboxTable.enqueue(
        new.compactMap { entry in
          entry.addressee.map {
            OutboxTable.Outgoing(
              message: entry.message.digest, addressee: $0, proof: $0.proof, size: entry.size, members: [])
          }
        }, roads, in: session)
      return try OutboxTable.queued(new, roads, in: session)
    }
  }
}

extension OutboxTable {
  /// Which of these messages have a row at a destination of their own, whatever became of it.
  ///
  /// A stranger may have sent a copy to another app's URL: its row is at that app's.
  static func queued(
    _ entries: [LedgerEntry], _ roads: Roads, in session: borrowing Session
  ) throws(DatabaseError) -> Set<Digest> {
    var places: [Digest: Set<Int>] = [:]
    for part in entries.map(\.message.digest.bytes).parts() {
      for row in try session.query(
        """
        SELECT message, destination
        FROM \(.listed(part)) STRAIGHT_JOIN outbox FORCE INDEX (message) ON message = listed.wanted
        """)
      {
        guard let digest = Digest(bytes: try row.bytes("message")) else { continue }
        places[digest, default: []].insert(try row.int("destination"))
      }
    }
    return Set(
      entries.filter { entry in
        let own = entry.addressee.flatMap { roads.destinations[$0.scope] } ?? []
        return !(places[entry.message.digest] ?? []).isDisjoint(with: own)
      }.map(\.message.digest))
  }
}
