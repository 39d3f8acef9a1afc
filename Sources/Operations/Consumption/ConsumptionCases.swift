package import Database
package import Ledger
package import Runtime
import Signing
import Time

/// The search and claim of Apple's consumption requests by an operator.
package enum ConsumptionCases {
  /// The time for which the service skips a case that an operator works on.
  private static let lease = Interval.minutes(5)

  /// Returns the cases of a notification's UUID or a transaction's ID, newest first.
  ///
  /// Throws `NoSuchConsumption`.
  package static func find(_ id: String, on connection: Connection) async throws -> [ConsumptionRequestRecord] {
    let found = try await connection.read { session throws(DatabaseError) in
      try ConsumptionTable.find(id, in: session)
    }
    guard !found.isEmpty else { throw NoSuchConsumption(id: id) }
    return found
  }

  /// Returns the newest open case of this ID.
  ///
  /// Throws `ConsumptionNotOpen`.
  static func open(_ id: String, at now: Timestamp, on connection: Connection) async throws -> ConsumptionRequestRecord
  {
    let found = try await find(id, on: connection)
    let isOpen = { (one: ConsumptionRequestRecord) in
      one.state != .answered && one.deadline > now && one.transactionID != nil
    }
    guard let request = found.first(where: isOpen) else { throw ConsumptionNotOpen(request: found[0]) }
    return request
  }

  /// Claims a case, adds the audit entry and runs `body`, all in one transaction.
  ///
  /// Throws `ConsumptionNotOpen` if it is settled or another process works on it.
  static func take(
    _ request: ConsumptionRequestRecord, _ action: StaticString, _ what: String, by author: AuditContext,
    at now: Timestamp,
    on connection: Connection,
    _ body: @Sendable (LeasedConsumption, borrowing Session) throws(DatabaseError) -> Void
  ) async throws -> LeasedConsumption {
    let owner = [UInt8].random(count: 16)
    let leased = try await connection.transaction { session throws(DatabaseError) in
      guard
        let leased = try ConsumptionTable.lease(request, until: now + lease, owner: owner, at: now, in: session)
      else { return nil as LeasedConsumption? }
      try author.note(action, of: "consumption", what, at: now, in: session)
      try body(leased, session)
      return leased
    }
    guard let leased else { throw ConsumptionNotOpen(request: request) }
    return leased
  }
}

package struct NoSuchConsumption: ExitStatusError, CustomStringConvertible {
  package let id: String

  package var exitStatus: ExitStatus { .failed }
  package var description: String { "no consumption request of \(id); see `switchyard consumption list`" }
}

/// An error: the case is settled, or a process works on it.
package struct ConsumptionNotOpen: ExitStatusError, CustomStringConvertible {
  package let request: ConsumptionRequestRecord

  package var exitStatus: ExitStatus { .refused }
  package var description: String {
    let why =
      request.transactionID == nil
      ? "it does not name its purchase: answer Apple with `switchyard api consumption TRANSACTION`"
      : "what is being worked on is free again after five minutes"
    return "the request of \(request.name) is \(request.state.name), its time ends at \(request.deadline.iso8601); "
      + why
  }
}
