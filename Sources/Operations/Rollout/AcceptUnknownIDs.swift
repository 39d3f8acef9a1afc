package import Database
package import Ledger
package import Purchases
package import Time

/// Accepts an app's present IDs that have no history and will not get one.
///
/// They no longer block a stage. Later IDs without a history block it again.
package struct AcceptUnknownIDs: Sendable {
  package struct Plan: Sendable {
    package let scope: AppScope
    package let bundleID: String
    package let ids: Int
  }

  private let kind: AcceptedIDs
  private let bundleID: String
  private let environment: Environment

  package init(_ kind: AcceptedIDs = .unknown, of bundleID: String, in environment: Environment) {
    self.kind = kind
    self.bundleID = bundleID
    self.environment = environment
  }

  package func plan(on connection: Connection) async throws -> Plan {
    let app = try await AppRecord.find(bundleID, connection).app
    let scope = AppScope(app: app.id, environment: environment)
    let ids = try await connection.read { [kind] session throws(DatabaseError) in
      guard let flag = try StageTable.all(in: session)[scope] else { return 0 }
      switch kind {
      case .unknown:
        return try HistoryJobTable.unsettled(
          in: scope, createdBefore: Timestamp(.min), unknownSince: flag.acceptedUnknownAt ?? Timestamp(.min),
          session
        ).unknown
      case .cancelled:
        return try UnfetchedIDs.read(
          in: scope, handedOutSince: Timestamp(.max),
          cancelledAfter: flag.acceptedCancelledAt ?? Timestamp(.min), session
        ).cancelled
      }
    }
    return Plan(scope: scope, bundleID: bundleID, ids: ids)
  }

  package func apply(
    _ plan: Plan, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws {
    try await connection.transaction { [kind] session throws(DatabaseError) in
      try StageTable.accept(kind, of: plan.scope, at: now, in: session)
      try author.note(
        "rollout.decide", of: plan.bundleID, "\(plan.scope.environment.rawValue): \(plan.ids) \(kind.name) accepted",
        at: now, in: session)
    }
  }
}
