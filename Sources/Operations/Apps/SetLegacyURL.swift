package import Database
package import Ledger
package import Purchases
import Rollout
package import Runtime
package import Time

/// Names the old back end that goes on hearing what Apple sends, or ends the forwarding.
package struct SetLegacyURL: Sendable {
  /// What would be different.
  package struct Plan: Sendable {
    package let app: App
    let before: Destination?
    /// A sentence that names hosts only, since paths and queries may hold secrets; nil when it is so already.
    package let change: String?
  }

  private let url: String?
  private let bundleID: String
  private let environment: Environment

  /// - Parameter url: one that `BackEndURL` finds usable; nil ends the forwarding.
  package init(_ url: String?, of bundleID: String, in environment: Environment) {
    self.url = url
    self.bundleID = bundleID
    self.environment = environment
  }

  /// What would be different; `NoSuchApp`, or `LegacyNeedsURL` when the URL cannot go.
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

  /// Writes it; a plan without a change writes nothing, and no audit entry.
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

/// The URL cannot go while the stage needs it.
package struct LegacyNeedsURL: ExitStatusError, CustomStringConvertible {
  package let bundleID: String

  package var exitStatus: ExitStatus { .refused }

  package var description: String {
    "\(bundleID) is in legacy, where Apple's notifications go only to this URL: `switchyard rollout set` record first"
  }
}
