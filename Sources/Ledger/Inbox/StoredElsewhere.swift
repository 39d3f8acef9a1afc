import Database
import Signing

/// Messages that are stored under another digest than their own: before a secret in them was known as one.
struct StoredElsewhere {
  /// Digests, their own, of those that were accepted.
  private(set) var inInbox: Set<Digest> = []
  private(set) var inQuarantine: Set<Digest> = []
  /// Of those in quarantine, the ones that were forwarded from there under the other digest.
  private(set) var forwarded: Set<Digest> = []

  init(_ messages: [InboxMessage], in session: borrowing Session) throws(DatabaseError) {
    var own: [Digest: Set<Digest>] = [:]
    for message in messages {
      if let other = message.unredacted { own[other, default: []].insert(message.digest) }
    }
    guard !own.isEmpty else { return }
    let others = Array(own.keys)
    let list = others.map(\.bytes)
    for row in try session.query(
      """
      SELECT m.digest, 1 AS accepted FROM \(.listed(list)) STRAIGHT_JOIN inbox m FORCE INDEX (PRIMARY) ON m.digest = listed.wanted
      UNION ALL SELECT q.digest, 0 FROM \(.listed(list)) STRAIGHT_JOIN quarantine q FORCE INDEX (PRIMARY) ON q.digest = listed.wanted
      """)
    {
      guard let messages = Digest(bytes: try row.bytes("digest")).flatMap({ own[$0] }) else { continue }
      if try row.int("accepted") == 1 { inInbox.formUnion(messages) } else { inQuarantine.formUnion(messages) }
    }
    guard !inQuarantine.isEmpty else { return }
    for row in try session.query(
      """
      SELECT DISTINCT message
      FROM \(.listed(list)) STRAIGHT_JOIN outbox FORCE INDEX (message) ON message = listed.wanted
      """)
    {
      if let messages = Digest(bytes: try row.bytes("message")).flatMap({ own[$0] }) { forwarded.formUnion(messages) }
    }
  }
}
