package import Database
package import Ledger
package import Purchases
import Rollout
package import Runtime
package import Time

/// Starts a bulk migration, which `serve` processes carry out from then on.
package struct StartMigration: Sendable {
  package struct Plan: Sendable {
    package let app: App?
    package let parts: [MigrationJobTable.NewPart]
    /// The warnings that an operator must accept.
    package let warnings: [MigrationWarning]
  }

  private let parts: [MigrationJobTable.NewPart]
  private let bundleID: String?
  private let environment: Environment?
  private var settings: MigrationSettings
  private let warnings: [MigrationWarning]

  /// - Parameters:
  ///   - parts: the present parts of the sources.
  ///   - bundleID: the app of all rows. `nil`: each row names it.
  ///   - environment: the environment of rows that do not name one.
  ///   - warnings: the warnings of the sources.
  package init(
    _ parts: [MigrationJobTable.NewPart], of bundleID: String?, in environment: Environment?,
    settings: MigrationSettings = MigrationSettings(), warnings: [MigrationWarning] = []
  ) {
    self.parts = parts
    self.bundleID = bundleID
    self.environment = environment
    self.settings = settings
    self.warnings = warnings
  }

  /// Returns the plan.
  ///
  /// Throws `NoSuchApp`.
  package func plan(on connection: Connection) async throws -> Plan {
    var app: App?
    if let bundleID { app = try await AppRecord.find(bundleID, connection).app }
    let (only, environment) = (app, environment)
    let found = try await connection.read { session throws(DatabaseError) in
      try MigrationWarning.all(of: only, in: environment, session)
    }
    return Plan(app: app, parts: parts, warnings: warnings + found)
  }

  /// Adds the job and returns its number.
  ///
  /// - Parameter accepted: the accepted warnings.
  package func apply(
    _ plan: Plan, accepting accepted: [MigrationWarning], by author: AuditContext, at now: Timestamp,
    on connection: Connection
  ) async throws -> Int {
    guard Set(plan.warnings).isSubset(of: Set(accepted)) else { throw MigrationRefused(warnings: plan.warnings) }
    var settings = settings
    settings.accepted = accepted.map(\.text)
    return try await connection.transaction { [settings] session throws(DatabaseError) in
      let job = try MigrationJobTable.add(
        plan.parts, app: plan.app, environment: environment, settings: settings, by: author.name, at: now, in: session)
      try author.note(
        "migration.start", of: "migration \(job)",
        accepted.isEmpty ? "\(plan.parts.count) parts" : "accepted: \(accepted.map(\.code).joined(separator: ", "))",
        at: now, in: session)
      return job
    }
  }
}

/// A risk of a migration that starts now.
package struct MigrationWarning: Hashable, Sendable {
  package let code: String
  package let text: String

  package static func changedFolder(_ path: String) -> Self {
    Self(
      code: "changedFolder",
      text: """
        The files in \(SafeText.escaped(path, limit: 1_000)) differ from the plan. New files may be left out, and removed \
        files are not read. Make a new plan.
        """)
  }

  /// Returns the warning that users would get the purchases of many customers.
  package static func crowdedUsers(_ count: Int, largest: Int) -> Self {
    let users = count == 1 ? "One user has" : "\(count) users have"
    return Self(
      code: "crowdedUsers",
      text: """
        \(users) receipts of 10 or more customers, or 100 single purchases or more, that Apple does not link: up to \
        \(largest). Each of them would be this user's. Check that the column of users holds users, and not a word for a missing user.
        """)
  }

  /// Returns the warnings about missing setup of the job's apps.
  static func all(
    of app: App?, in environment: Environment?, _ session: borrowing Session
  ) throws(DatabaseError) -> [Self] {
    var apps = app.map { [$0] } ?? []
    if app == nil { apps = try AppTable.all(in: session) }
    let flags = try StageTable.all(in: session)
    let keyed = try CredentialTable.apps(with: .apiKey, in: session)
    var warnings: [Self] = []
    if apps.isEmpty {
      warnings.append(
        Self(
          code: "noApp",
          text: "no app is registered, so every row would be rejected. Run `switchyard app add BUNDLE_ID`."))
    }
    for app in apps {
      let scopes = (environment.map { [$0] } ?? [.production, .sandbox]).map { AppScope(app: app.id, environment: $0) }
      for scope in scopes {
        if try hasNotifications(scope, session) { continue }
        warnings.append(
          Self(
            code: "noNotifications",
            text: """
              \(app.bundleID): no V2 notification of \(scope.environment.rawValue) has come yet. Purchases \
              between now and the day of the switch would be known only when Apple is asked again; switch the \
              notification URL first
              """))
      }
      if !keyed.contains(app.id) {
        warnings.append(
          Self(
            code: "noKey",
            text: """
              \(app.bundleID): no key of the App Store Server API is registered, so that its ids wait; \
              `switchyard app add \(app.bundleID) --key-file FILE --key-id ID --issuer ID`
              """))
      }
      for scope in scopes where flags[scope]?.stage.notifications == .passThrough {
        warnings.append(
          Self(
            code: "notRecorded",
            text: """
              \(app.bundleID): \(scope.environment.rawValue) is in the stage legacy, in which Apple is not asked; \
              `switchyard rollout set`
              """))
      }
    }
    return warnings
  }

  /// Whether Apple ever sent a V2 notification there.
  private static func hasNotifications(_ scope: AppScope, _ session: borrowing Session) throws(DatabaseError) -> Bool {
    if try HeartbeatTable.wasWatched(scope, session) { return true }
    return try HeartbeatTable.hearsNotifications(scope, session)
  }
}

/// An error: the operator did not accept all warnings.
package struct MigrationRefused: ExitStatusError, CustomStringConvertible {
  package let warnings: [MigrationWarning]

  package var exitStatus: ExitStatus { .refused }
  package var description: String {
    "nothing was begun:\n" + warnings.map { "  \($0.text)" }.joined(separator: "\n")
      + "\nSay --yes to begin in spite of them; the report will list them."
  }
}
