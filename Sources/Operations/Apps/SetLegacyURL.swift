package import Database
package import Ledger
package import Purchases
import Rollout
package import Runtime
package import Time

/// Sets the destination of forwarded requests and notifications, or ends forwarding.
package struct SetLegacyURL: Sendable {
  package struct Plan: Sendable {
    package let app: App
    let before: Destination?
    /// A sentence with only the hosts, since paths and queries may hold secrets.
    ///
    /// `nil` without a change.
    package let change: String?
  }

  private let url: String?
  private let bundleID: String
  private let environment: Environment

  /// - Parameter url: must be usable by `BackEndURL`.
  ///
  /// `nil` ends forwarding.
  package init(_ url: String?, of bundleID: String, in environment: Environment) {
    self.url = url
    self.bundleID = bundleID
    self.environment = environment
  }

  /// Returns the change.
  ///
  /// Throws `NoSuchApp`, or `LegacyNeedsURL` if the stage needs the URL.
  package func plan(on connection: Connection) async throws -> Plan {
    let record = try await AppRecord.find(bundleID, connection)
    let scope = AppScope(app: record.app.id, environment: environment)
    let before = try await connection.read { session throws(DatabaseError) in
      try DestinationTable.legacy(of: scope, in: session)
    }
    if url == nil, record.flags.contains(where: { $0.environment == environment && $0.stage == .legacy }) {
      throw LegacyNeedsURL(bundleID: bundleID)
    }
    return Plan(app: record.app, before: before, change: change(from: before))
  }

  /// Writes the change.
  ///
  /// Without a change it writes no audit entry either.
  package func apply(
    _ plan: Plan, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws {
    guard let change = plan.change else { return }
    let scope = AppScope(app: plan.app.id, environment: environment)
    try await connection.transaction { session throws(DatabaseError) in
      if let url {
        try DestinationTable.setLegacy(url, of: scope, at: now, in: session)
      } else if let before = plan.before {
        try DestinationTable.disable(before, at: now, in: session)
      }
      try author.note(
        "app.legacy-url", of: plan.app.bundleID, "\(environment.rawValue): \(change)", at: now, in: session)
    }
  }

  private func change(from before: Destination?) -> String? {
    guard let url else { return before.flatMap { $0.isEnabled ? "stop forwarding to \($0.host)" : nil } }
    if let before, before.isEnabled, before.url == url { return nil }
    let named = Destination.host(of: url)
    guard let before else { return "forward to \(named)" }
    return "forward to \(named) instead of \(before.isEnabled ? before.host : "nowhere")"
  }
}

/// An error: the stage needs the URL.
package struct LegacyNeedsURL: ExitStatusError, CustomStringConvertible {
  package let bundleID: String

  package var exitStatus: ExitStatus { .refused }

  package var description: String {
    "\(bundleID) is in legacy, where Apple's notifications go only to this URL: `switchyard rollout set` record first"
  }
}
