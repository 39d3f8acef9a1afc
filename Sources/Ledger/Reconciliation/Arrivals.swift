package import Database
package import Signing

/// The arrival of a notification in Apple's history.
package enum Arrival: Hashable, Sendable {
  case byItself
  /// Fetched from Apple's history, or submitted by the app's back end.
  case recovered
  case inQuarantine
}

extension LedgerStore {
  /// The search keys of a notification in Apple's history.
  package struct Told: Hashable, Sendable {
    /// Apple signs a notification again when it returns it later.
    ///
    /// Then only the UUID finds it.
    package let notificationUUID: String?
    /// The digest of the JWS, with its signature in the low form.
    package let digest: Digest

    package init(notificationUUID: String?, digest: Digest) {
      self.notificationUUID = notificationUUID
      self.digest = digest
    }
  }

  package func arrivals(of told: [Told], in scope: AppScope) async throws(DatabaseError) -> [Arrival?] {
    guard !told.isEmpty else { return [] }
    return try await pool.read { session throws(DatabaseError) in
      var byDigest: [Digest: Arrival] = [:]
      for digest in try Table.quarantine.known(told.map(\.digest), in: session) { byDigest[digest] = .inQuarantine }
      for row in try session.query("SELECT digest, kind FROM \(Table.inbox.each(told.map(\.digest.bytes)))") {
        if let digest = Digest(bytes: try row.bytes("digest")) { byDigest[digest] = Arrival(try row.int("kind")) }
      }
      var byUUID: [String: Arrival] = [:]
      for row in try session.query(
        """
        SELECT events.id, inbox.kind FROM \(Table.eventIDs.each(told.compactMap(\.notificationUUID), in: scope))
          STRAIGHT_JOIN \(Table.inbox.by("PRIMARY")) ON inbox.digest = events.message
        """)
      {
        byUUID[try row.text("id")] = Arrival(try row.int("kind"))
      }
      return told.map { told in
        let (known, exact) = (
          told.notificationUUID.flatMap { byUUID[$0] }, byDigest[told.digest]
        )
        // Another signature of a known notification is not new.
        return exact == .byItself || known == .byItself ? .byItself : known ?? exact
      }
    }
  }
}

extension Arrival {
  fileprivate init(_ kind: Int) { self = kind == InboxMessage.Kind.notification.rawValue ? .byItself : .recovered }
}
