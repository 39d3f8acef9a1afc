package import Database
package import Ledger
package import Runtime
package import Time

/// Revokes the bearer tokens of a name.
///
/// The service applies it within seconds.
package struct RevokeToken: Sendable {
  /// The minimum length of a name, as shown in lists.
  package static let shortestName = 8

  package struct Plan: Sendable {
    package let app: App
    package let tokens: Int
  }

  private let name: DigestPrefix
  private let bundleID: String?

  /// - Parameter bundleID: `nil` for the app that has a valid token of this name.
  package init(_ name: DigestPrefix, of bundleID: String? = nil) {
    self.name = name
    self.bundleID = bundleID
  }

  /// Returns the app and the number of tokens.
  ///
  /// Throws `NoSuchApp` or `NoSuchToken`.
  package func plan(on connection: Connection) async throws -> Plan {
    let apps: [App]
    if let bundleID {
      apps = [try await AppRecord.find(bundleID, connection).app]
    } else {
      apps = try await connection.read { session throws(DatabaseError) in try AppTable.all(in: session) }
    }
    let found = try await connection.read { session throws(DatabaseError) in
      for app in apps {
        let count = try TokenTable.list(of: app, in: session).count {
          $0.revokedAt == nil && name.text.hasPrefix($0.name)
        }
        if count > 0 { return Plan(app: app, tokens: count) as Plan? }
      }
      return nil as Plan?
    }
    guard let found else { throw NoSuchToken(name: name.text) }
    return found
  }

  /// Revokes the tokens and returns their number.
  ///
  /// Throws `NoSuchToken` if all were revoked meanwhile.
  package func apply(
    _ plan: Plan, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws -> Int {
    let count = try await connection.transaction { session throws(DatabaseError) in
      let count = try TokenTable.revoke(name.bytes, of: plan.app, at: now, in: session)
      if count > 0 { try author.note("app.token.revoke", of: plan.app.bundleID, name.text, at: now, in: session) }
      return count
    }
    guard count > 0 else { throw NoSuchToken(name: name.text) }
    return Int(count)
  }
}

package struct NoSuchToken: ExitStatusError, CustomStringConvertible {
  package let name: String

  package var exitStatus: ExitStatus { .failed }
  package var description: String { "there is no valid token \(name); see `switchyard app list APP`" }
}
