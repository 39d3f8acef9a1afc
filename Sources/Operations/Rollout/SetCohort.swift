package import Database
package import Ledger
package import Purchases
package import Runtime
package import Time

/// Changes which customers get our answers before all others in a ramp of an app.
package struct SetCohort: Sendable {
  package enum Change: Hashable, Sendable {
    case add([CohortTable.Member])
    case remove([CohortTable.Member])
    /// Removes every member.
    case clear
  }

  /// The cohort in one environment, and what it is after the change.
  package struct Cohort: Hashable, Sendable {
    package let scope: Scope
    package let before: Set<CohortTable.Member>
    package let after: Set<CohortTable.Member>

    package var added: Set<CohortTable.Member> { after.subtracting(before) }
    package var removed: Set<CohortTable.Member> { before.subtracting(after) }
  }

  package struct Plan: Hashable, Sendable {
    package let bundleID: String
    package let cohorts: [Cohort]
  }

  /// The most members of a cohort: every call in a ramp looks for its customer among them.
  package static let mostMembers = 10_000

  private let bundleID: String
  private let environment: Environment?
  private let change: Change

  /// - Parameter environment: nil for both.
  package init(_ change: Change, of bundleID: String, in environment: Environment? = nil) {
    self.change = change
    self.bundleID = bundleID
    self.environment = environment
  }

  /// The cohort of each environment; `NoSuchApp` when the app is not registered, `CohortTooLarge` when it would grow too
  /// large.
  package func plan(on connection: Connection) async throws -> Plan {
    let app = try await AppRecord.find(bundleID, connection).app
    let environments = environment.map { [$0] } ?? [.production, .sandbox]
    let cohorts = try await connection.read { session throws(DatabaseError) in
      var cohorts: [Cohort] = []
      for environment in environments {
        let scope = Scope(app: app.id, environment: environment)
        let before = Set(try CohortTable.members(of: scope, in: session))
        cohorts.append(Cohort(scope: scope, before: before, after: after(before)))
      }
      return cohorts
    }
    if let large = cohorts.first(where: { !$0.added.isEmpty && $0.after.count > Self.mostMembers }) {
      throw CohortTooLarge(app: bundleID, environment: large.scope.environment, members: large.after.count)
    }
    return Plan(bundleID: bundleID, cohorts: cohorts)
  }

  private func after(_ before: Set<CohortTable.Member>) -> Set<CohortTable.Member> {
    switch change {
    case .add(let members): before.union(members)
    case .remove(let members): before.subtracting(members)
    case .clear: []
    }
  }

  /// Changes the cohorts; the audit has how many members were added and removed, and names none of them.
  package func apply(
    _ plan: Plan, by author: Author, at now: Milliseconds, on connection: Connection
  ) async throws {
    try await connection.transaction { session throws(DatabaseError) in
      for cohort in plan.cohorts where cohort.before != cohort.after {
        try CohortTable.add(Array(cohort.added), to: cohort.scope, at: now, in: session)
        try CohortTable.remove(Array(cohort.removed), from: cohort.scope, in: session)
        try author.note(
          "rollout.cohort", of: plan.bundleID,
          "\(cohort.scope.environment.rawValue): \(cohort.added.count) added, \(cohort.removed.count) removed", at: now,
          in: session)
      }
    }
  }
}

/// A cohort would have more members than it may.
package struct CohortTooLarge: ExitStatusError, CustomStringConvertible {
  package let app: String
  package let environment: Environment
  package let members: Int

  package var exitStatus: ExitStatus { .failed }
  package var description: String {
    """
    \(app) \(environment.rawValue): the cohort would have \(members) members, and \(SetCohort.mostMembers) are the most. \
    Remove some first: `switchyard rollout cohort list \(app)`
    """
  }
}
