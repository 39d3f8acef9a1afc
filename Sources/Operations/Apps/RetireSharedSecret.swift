package import Database
package import Ledger
import Rollout
package import Runtime
package import Time

/// Ends a shared secret of an app; it stays sealed, to forward what came before.
package struct RetireSharedSecret: Sendable {
  private let name: String
  private let bundleID: String

  /// - Parameter name: as lists show it.
  package init(_ name: String, of bundleID: String) {
    self.name = name
    self.bundleID = bundleID
  }

  /// The app whose secret would end; `NoSuchApp`, `NoSuchSecret` when it has no valid one of this name, or
  /// `CompleteNeedsSecret` when it is the last one and the stage needs it.
  package func plan(on connection: Connection) async throws -> App {
    let record = try await AppRecord.find(bundleID, connection)
    let secrets = record.credentials.filter { $0.kind == .sharedSecret }
    guard secrets.contains(where: { $0.name == name }) else { throw unknown }
    if secrets.count == 1, record.flags.contains(where: { $0.stage == .complete }) {
      throw CompleteNeedsSecret(bundleID: bundleID)
    }
    return record.app
  }

  /// Ends it; `NoSuchSecret` when somebody else did meanwhile.
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

/// The last secret cannot end while the stage needs it.
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

/// No valid shared secret has this name.
package struct NoSuchSecret: ExitStatusError, CustomStringConvertible {
  package let bundleID: String
  package let name: String

  package var exitStatus: ExitStatus { .failed }
  package var description: String {
    "\(bundleID) has no valid shared secret \(name); see `switchyard app secret \(bundleID)`"
  }
}
