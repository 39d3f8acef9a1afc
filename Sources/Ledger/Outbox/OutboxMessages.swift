package import Database
package import Signing

extension OutboxTable {
  /// The bodies of messages that are to be sent: from the inbox, else from quarantine; a purged one is missing.
  ///
  /// Three statements, however many messages there are.
  package static func messages(
    _ digests: [Digest], for destination: Destination, in session: borrowing Session
  ) throws(DatabaseError) -> [Digest: StoredMessage] {
    var found: [Digest: StoredMessage] = [:]
    for stored in try InboxTable.find(digests, in: session) { found[stored.message.digest] = stored }
    let missing = digests.filter { found[$0] == nil }
    guard !missing.isEmpty else { return found }
    for kept in try QuarantineTable.find(missing, in: session) {
      found[kept.message.digest] = StoredMessage(
        message: kept.message, app: destination.scope.app, bundleID: kept.claimedApp,
        environment: destination.scope.environment, signedAt: nil, title: kept.code)
    }
    return found
  }
}
