package import Database
package import Ledger
package import Runtime
import Signing
import Time

/// Apple's consumption requests, as an operator finds and takes them.
package enum ConsumptionCases {
  /// How long the service leaves a case alone that an operator works on.
  private static let lease = Interval.minutes(5)

  /// Those of a notification's UUID or a transaction's id, newest first; `NoSuchConsumption` when there is none.
  package static func find(_ id: String, on connection: Connection) async throws -> [ConsumptionRequestRecord] {
    let found = try await connection.read { session throws(DatabaseError) in
      try ConsumptionTable.find(id, in: session)
    }
    guard !found.isEmpty else { throw NoSuchConsumption(id: id) }
    return found
  }

  /// The newest of this id that is still to be settled; `ConsumptionNotOpen` when none is.
  static func open(_ id: String, at now: Timestamp, on connection: Connection) async throws -> ConsumptionRequestRecord
  {
    let found = try await find(id, on: connection)
    let isOpen = { (one: ConsumptionRequestRecord) in
      one.state != .answered && one.deadline > now && one.transactionID != nil
    }
    guard let request = found.first(where: isOpen) else { throw ConsumptionNotOpen(request: found[0]) }
    return request
  }

  /// Takes a case from the service, notes who did and does what `body` says, all in one transaction.
  ///
  /// `ConsumptionNotOpen` when it is settled, or somebody works on it.
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

/// No request of this id.
package struct NoSuchConsumption: ExitStatusError, CustomStringConvertible {
  package let id: String

  package var exitStatus: ExitStatus { .failed }
  package var description: String { "no consumption request of \(id); see `switchyard consumption list`" }
}

/// Nothing is left to be settled, or somebody is at it.
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
