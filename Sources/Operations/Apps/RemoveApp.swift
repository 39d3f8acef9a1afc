package import Database
package import Ledger
package import Time

/// Removes an app from service and revokes its tokens.
///
/// The data of its purchases stays.
package struct RemoveApp: Sendable {
  package struct Plan: Sendable {
    package let app: App
    package let tokens: Int
  }

  private let bundleID: String

  package init(_ bundleID: String) { self.bundleID = bundleID }

  /// Returns the app and its valid tokens.
  ///
  /// Throws `NoSuchApp`.
  package func plan(on connection: Connection) async throws -> Plan {
    let record = try await AppRecord.find(bundleID, connection)
    return Plan(app: record.app, tokens: record.validTokens.count)
  }

  package func apply(
    _ plan: Plan, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws {
    try await connection.transaction { session throws(DatabaseError) in
      try AppTable.remove(plan.app, at: now, in: session)
      try author.note("app.remove", of: plan.app.bundleID, "\(plan.tokens) tokens ended", at: now, in: session)
    }
  }
}
