package import Database
package import Time

/// Whether unproven messages are forwarded to the app's destination, which may judge them itself.
package enum UnprovenForwarding: String, Hashable, Sendable, CaseIterable {
  /// Forwards them, in a separate queue.
  case allow
  /// Keeps them in quarantine until an operator forwards them with `switchyard quarantine replay`.
  case deny
}

/// `unproven_forwarding`: an operator's policy for an app.
///
/// Default: `allow`.
package enum UnprovenForwardingTable {
  package static func policy(of app: App, in session: borrowing Session) throws(DatabaseError) -> UnprovenForwarding {
    let row = try session.query("SELECT policy FROM unproven_forwarding WHERE app = \(app.id.number)").first
    return try row.map(policy) ?? .allow
  }

  static func denying(in session: borrowing Session) throws(DatabaseError) -> Set<App.ID> {
    var apps: Set<App.ID> = []
    for row in try session.query("SELECT app, policy FROM unproven_forwarding") where try policy(row) == .deny {
      apps.insert(App.ID(try row.int("app")))
    }
    return apps
  }

  package static func set(
    _ policy: UnprovenForwarding, of app: App, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO unproven_forwarding (app, policy, changed_at) VALUES (\(app.id.number), \(policy.rawValue), \(now))
      ON DUPLICATE KEY UPDATE policy = VALUES(policy), changed_at = VALUES(changed_at)
      """)
  }

  private static func policy(_ row: Row) throws(DatabaseError) -> UnprovenForwarding {
    let word = try row.text("policy")
    guard let policy = UnprovenForwarding(rawValue: word) else {
      throw DatabaseError(.column, "a policy this build does not know: \(word)")
    }
    return policy
  }
}
