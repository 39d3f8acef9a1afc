package import ConsumptionAnswers
package import Database
package import JSON
package import Ledger
package import Time

/// Tells Apple by hand how a purchase was used.
package struct AnswerConsumption: Sendable {
  private let answer: JSONObject
  private let id: String

  /// - Parameter answer: Apple's ConsumptionRequest, looked over already.
  package init(_ answer: JSONObject, to id: String) {
    self.answer = answer
    self.id = id
  }

  /// The request that would be answered; `NoSuchConsumption`, or `ConsumptionNotOpen`.
  package func plan(at now: Timestamp, on connection: Connection) async throws -> ConsumptionRequestRecord {
    try await ConsumptionCases.open(id, at: now, on: connection)
  }

  /// Tells Apple, and keeps what became of it.
  ///
  /// The answer is kept first, with the audit entry: whoever tells Apple after a crash tells the same.
  package func apply(
    _ request: ConsumptionRequestRecord, with report: ConsumptionReport, by author: AuditContext, clock: WallClock,
    on connection: Connection
  ) async throws -> ConsumptionReport.Outcome {
    let leased = try await ConsumptionCases.take(
      request, "consumption.answer", "\(request.name): by hand", by: author, at: clock.now(), on: connection
    ) { [answer] leased, session throws(DatabaseError) in
      try ConsumptionTable.keep(answer, for: leased, in: session)
    }
    let outcome = await report.tell(answer, about: request)
    let now = clock.now()
    try await connection.transaction { session throws(DatabaseError) in
      switch outcome {
      case .taken: try ConsumptionTable.settle(leased, as: .answered, because: "by hand", at: now, in: session)
      case .refused(let reason):
        try ConsumptionTable.settle(leased, as: .refused, because: reason, at: now, in: session)
      case .later(let reason): try ConsumptionTable.postpone(leased, until: now, because: reason, in: session)
      }
    }
    return outcome
  }
}
