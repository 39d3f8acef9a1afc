package import Database
package import Ledger
package import Purchases
package import Time

/// Adds customers to those who get our answers first in a ramp of an app, or empties the list.
package struct SetCohort: Sendable {
  package struct Plan: Sendable {
    package let scopes: [Scope]
    package let bundleID: String
    /// How many are in the list now, in all of the environments.
    package let before: Int
  }

  private let bundleID: String
  private let environment: Environment?
  private let members: [CohortTable.Member]
  private let clears: Bool

  /// - Parameters:
  ///   - members: to be added.
  ///   - clears: whether those that are there go first.
  package init(
    of bundleID: String, in environment: Environment? = nil, adding members: [CohortTable.Member], clearing clears: Bool
  ) {
    self.bundleID = bundleID
    self.environment = environment
    self.members = members
    self.clears = clears
  }

  package func plan(on connection: Connection) async throws -> Plan {
    let app = try await AppRecord.find(bundleID, connection).app
    let environments = environment.map { [$0] } ?? [.production, .sandbox]
    let scopes = environments.map { Scope(app: app.id, environment: $0) }
    let before = try await connection.read { session throws(DatabaseError) in
      var count = 0
      for scope in scopes { count += try CohortTable.count(in: scope, session) }
      return count
    }
    return Plan(scopes: scopes, bundleID: bundleID, before: before)
  }

  package func apply(
    _ plan: Plan, by author: Author, at now: Milliseconds, on connection: Connection
  ) async throws {
    try await connection.transaction { session throws(DatabaseError) in
      for scope in plan.scopes {
        if clears { try CohortTable.clear(scope, in: session) }
        try CohortTable.add(members, to: scope, at: now, in: session)
        // Who is in it is not for the audit: how many is.
        try author.note(
          "rollout.cohort", of: plan.bundleID,
          "\(scope.environment.rawValue): \(clears ? "cleared, " : "")\(members.count) added", at: now, in: session)
      }
    }
  }
}
