package import Database
package import Ledger
package import Time

/// Declines a consumption request without a response to Apple.
///
/// The author's reason is stored with it.
package struct DeclineConsumption: Sendable {
  private let id: String

  package init(_ id: String) { self.id = id }

  /// Returns the request.
  ///
  /// Throws `NoSuchConsumption` or `ConsumptionNotOpen`.
  package func plan(at now: Timestamp, on connection: Connection) async throws -> ConsumptionRequestRecord {
    try await ConsumptionCases.open(id, at: now, on: connection)
  }

  /// Declines the request.
  ///
  /// Throws `ConsumptionNotOpen` if it was settled since the plan, or a process works on it.
  package func apply(
    _ request: ConsumptionRequestRecord, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws {
    _ = try await ConsumptionCases.take(
      request, "consumption.decline", request.name, by: author, at: now, on: connection
    ) { leased, session throws(DatabaseError) in
      try ConsumptionTable.settle(leased, as: .declined, because: author.reason, at: now, in: session)
    }
  }
}
