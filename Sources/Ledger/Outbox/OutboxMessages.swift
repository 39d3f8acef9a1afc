package import Database
package import Signing

extension OutboxTable {
  /// The bodies of messages that are to be sent: from the inbox, else from quarantine; a purged one is missing.
  ///
  /// Another app's message of the inbox is not looked at: a stranger's copy of it may have been sent to this app's URL.
  ///
  /// Three statements, however many messages there are.
  package static func messages(
    _ digests: [Digest], for destination: Destination, _ bodies: BodyVault, in session: borrowing Session
  ) throws(DatabaseError) -> [Digest: StoredMessage] {
    var found: [Digest: StoredMessage] = [:]
    for stored in try InboxTable.find(digests, bodies, in: session) where stored.app == destination.scope.app {
      found[stored.message.digest] = stored
    }
    let missing = digests.filter { found[$0] == nil }
    guard !missing.isEmpty else { return found }
    for kept in try QuarantineTable.find(missing, bodies, in: session) {
      found[kept.message.digest] = StoredMessage(
        message: kept.message, app: destination.scope.app, bundleID: kept.claimedApp,
        environment: destination.scope.environment, signedAt: nil, title: kept.code)
    }
    return found
  }

  /// Which of these rows, leased without proof, have one by now.
  package static func proven(
    among sequences: [Int64], in session: borrowing Session
  ) throws(DatabaseError) -> Set<Int64> {
    var proven: Set<Int64> = []
    for part in sequences.sorted().parts() {
      for row in try session.query(
        """
        SELECT sequence FROM outbox FORCE INDEX (PRIMARY)
        WHERE sequence IN (\(list: part)) AND class <> \(TrustLevel.unproven.rawValue)
        """)
      {
        proven.insert(try row.int64(0))
      }
    }
    return proven
  }
}
