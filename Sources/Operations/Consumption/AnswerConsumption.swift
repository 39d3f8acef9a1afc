package import ConsumptionAnswers
package import Database
package import JSON
package import Ledger
package import Time

/// Answers an Apple consumption request by hand.
package struct AnswerConsumption: Sendable {
  private let answer: JSONObject
  private let id: String

  /// - Parameter answer: Apple's ConsumptionRequest, already checked.
  package init(_ answer: JSONObject, to id: String) {
    self.answer = answer
    self.id = id
  }

  /// Returns the request.
  ///
  /// Throws `NoSuchConsumption` or `ConsumptionNotOpen`.
  package func plan(at now: Timestamp, on connection: Connection) async throws -> ConsumptionRequestRecord {
    try await ConsumptionCases.open(id, at: now, on: connection)
  }

  /// Sends the response to Apple and stores the result.
  ///
  /// The response is stored first, with the audit entry, so that after a crash any process sends the same one.
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
