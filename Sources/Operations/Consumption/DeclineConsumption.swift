package import Database
package import Ledger
package import Time

/// Tells Apple nothing about a purchase; the author's reason is kept with the request.
package struct DeclineConsumption: Sendable {
  private let id: String

  package init(_ id: String) { self.id = id }

  /// The request that would be declined; `NoSuchConsumption`, or `ConsumptionNotOpen`.
  package func plan(at now: Timestamp, on connection: Connection) async throws -> ConsumptionRequestRecord {
    try await ConsumptionCases.open(id, at: now, on: connection)
  }

  /// Declines it; `ConsumptionNotOpen` when somebody settled it since the plan, or works on it.
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
