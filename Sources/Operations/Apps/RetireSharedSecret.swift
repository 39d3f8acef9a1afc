package import Database
package import Ledger
import Rollout
package import Runtime
package import Time

package struct RetireSharedSecret: Sendable {
  private let name: String
  private let bundleID: String

  /// - Parameter name: the name in lists.
  package init(_ name: String, of bundleID: String) {
    self.name = name
    self.bundleID = bundleID
  }

  /// Returns the app.
  ///
  /// Throws `NoSuchApp`, `NoSuchSecret`, or `CompleteNeedsSecret` if the stage needs this last secret.
  package func plan(on connection: Connection) async throws -> App {
    let record = try await AppRecord.find(bundleID, connection)
    let secrets = record.credentials.filter { $0.kind == .sharedSecret }
    guard secrets.contains(where: { $0.name == name }) else { throw unknown }
    if secrets.count == 1, record.flags.contains(where: { $0.stage == .complete }) {
      throw CompleteNeedsSecret(bundleID: bundleID)
    }
    return record.app
  }

  /// Retires the secret.
  ///
  /// Throws `NoSuchSecret` if it was retired meanwhile.
  package func apply(
    _ app: App, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws {
    let isRetired = try await connection.transaction { session throws(DatabaseError) in
      let isRetired = try CredentialTable.retire(name, kind: .sharedSecret, of: app, at: now, in: session)
      if isRetired { try author.note("app.secret.retire", of: app.bundleID, name, at: now, in: session) }
      return isRetired
    }
    guard isRetired else { throw unknown }
  }

  private var unknown: NoSuchSecret { NoSuchSecret(bundleID: bundleID, name: String(name.prefix(80))) }
}

/// An error: the stage needs the last secret.
package struct CompleteNeedsSecret: ExitStatusError, CustomStringConvertible {
  package let bundleID: String

  package var exitStatus: ExitStatus { .refused }

  package var description: String {
    """
    \(bundleID) is in complete, where only this shared secret can decide on 21004: register the new one first, or \
    `switchyard rollout set` record
    """
  }
}

package struct NoSuchSecret: ExitStatusError, CustomStringConvertible {
  package let bundleID: String
  package let name: String

  package var exitStatus: ExitStatus { .failed }
  package var description: String {
    "\(bundleID) has no valid shared secret \(name); see `switchyard app secret \(bundleID)`"
  }
}
