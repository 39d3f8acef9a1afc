package import Database
package import Ledger
package import Purchases
package import Time

/// Decides about the ids of an app that Apple's API does not know (4040010): they are accepted as they are.
///
/// They hold up no stage from then on; an id that becomes unknown later does again.
package struct AcceptUnknownIDs: Sendable {
  package struct Plan: Sendable {
    package let scope: Scope
    package let bundleID: String
    package let ids: Int
  }

  private let bundleID: String
  private let environment: Environment

  package init(of bundleID: String, in environment: Environment) {
    self.bundleID = bundleID
    self.environment = environment
  }

  package func plan(on connection: Connection) async throws -> Plan {
    let app = try await AppRecord.find(bundleID, connection).app
    let scope = Scope(app: app.id, environment: environment)
    let ids = try await connection.read { session throws(DatabaseError) in
      let accepted = try EvidenceTable.last(.unknown, of: scope, in: session)?.at ?? Milliseconds(.min)
      return try WorkTable.unsettled(
        in: scope, createdBefore: Milliseconds(.min), unknownSince: accepted, session
      ).unknown
    }
    return Plan(scope: scope, bundleID: bundleID, ids: ids)
  }

  package func apply(
    _ plan: Plan, by author: Author, at now: Milliseconds, on connection: Connection
  ) async throws {
    try await connection.transaction { session throws(DatabaseError) in
      try EvidenceTable.add(.unknown, of: plan.scope, at: now, "\(plan.ids) accepted", in: session)
      try author.note(
        "rollout.decide", of: plan.bundleID, "\(plan.scope.environment.rawValue): \(plan.ids) unknown ids accepted",
        at: now, in: session)
    }
  }
}
