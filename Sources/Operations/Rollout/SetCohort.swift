package import Database
package import Ledger
package import Purchases
package import Time

/// Changes the cohort of customers that get Switchyard's responses before all others in a ramp.
package struct SetCohort: Sendable {
  package enum Change: Hashable, Sendable {
    case add([CohortMember])
    case remove([CohortMember])
    /// Removes all customers.
    case clear
  }

  /// The cohort in one environment before and after the change, by originalTransactionIds.
  package struct Cohort: Hashable, Sendable {
    package let scope: AppScope
    package let before: Set<String>
    package let after: Set<String>
    /// Members without a known purchase there.
    package let unknown: [CohortMember]

    package var added: Set<String> { after.subtracting(before) }
    package var removed: Set<String> { before.subtracting(after) }
  }

  package struct Plan: Hashable, Sendable {
    package let bundleID: String
    package let cohorts: [Cohort]
  }

  private let bundleID: String
  private let environment: Environment?
  private let change: Change

  /// - Parameter environment: `nil` for both.
  package init(_ change: Change, of bundleID: String, in environment: Environment? = nil) {
    self.change = change
    self.bundleID = bundleID
    self.environment = environment
  }

  /// Returns the cohort of each environment.
  ///
  /// Throws `NoSuchApp`.
  package func plan(on connection: Connection) async throws -> Plan {
    let app = try await AppRecord.find(bundleID, connection).app
    let environments = environment.map { [$0] } ?? [.production, .sandbox]
    let cohorts = try await connection.read { session throws(DatabaseError) in
      var cohorts: [Cohort] = []
      for environment in environments {
        cohorts.append(try cohort(AppScope(app: app.id, environment: environment), session))
      }
      return cohorts
    }
    return Plan(bundleID: bundleID, cohorts: cohorts)
  }

  private func cohort(_ scope: AppScope, _ session: borrowing Session) throws(DatabaseError) -> Cohort {
    let before = Set(try BucketTable.cohort(of: scope, in: session))
    var (ids, unknown): (Set<String>, [CohortMember]) = ([], [])
    for member in change.members {
      let named = try BucketTable.ids(of: member, in: scope, session)
      ids.formUnion(named)
      if named.isEmpty { unknown.append(member) }
    }
    let after: Set<String> =
      switch change {
      case .add: before.union(ids)
      case .remove: before.subtracting(ids)
      case .clear: []
      }
    return Cohort(scope: scope, before: before, after: after, unknown: unknown)
  }

  /// Changes the cohorts.
  ///
  /// The audit has the numbers of added and removed IDs, but not the IDs.
  package func apply(
    _ plan: Plan, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws {
    try await connection.transaction { session throws(DatabaseError) in
      for cohort in plan.cohorts where cohort.before != cohort.after {
        try BucketTable.choose(cohort.added.sorted(), in: cohort.scope, at: now, session)
        try BucketTable.release(cohort.removed.sorted(), in: cohort.scope, session)
        try author.note(
          "rollout.cohort", of: plan.bundleID,
          "\(cohort.scope.environment.rawValue): \(cohort.added.count) added, \(cohort.removed.count) removed", at: now,
          in: session)
      }
    }
  }
}

extension SetCohort.Change {
  fileprivate var members: [CohortMember] {
    switch self {
    case .add(let members), .remove(let members): members
    case .clear: []
    }
  }
}
