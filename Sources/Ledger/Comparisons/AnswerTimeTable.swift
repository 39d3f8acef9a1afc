package import Database
package import Time

/// `answer_times`: the number of verifyReceipt calls by side and response time, in steps of five minutes.
package enum AnswerTimeTable {
  private static let step = Interval.minutes(5)

  package struct Key: Hashable, Sendable {
    let side: ResponseTimeStatistics.Side
    let scope: AppScope
    /// The beginning of the five minutes, or the time in them when the stage was set.
    let start: Timestamp
    /// The upper bound in milliseconds.
    ///
    /// 0 for a failed call.
    let bound: Int

    /// - Parameters:
    ///   - time: the response time. `nil` for a failed call.
    ///   - stageSetAt: when the app's stage was set. Earlier calls of the five minutes are counted separately.
    package init(
      _ side: ResponseTimeStatistics.Side, in scope: AppScope, took time: Duration?, at now: Timestamp,
      stageSetAt: Timestamp? = nil
    ) {
      self.side = side
      self.scope = scope
      let begun = Timestamp(now.sinceEpoch / AnswerTimeTable.step.milliseconds * AnswerTimeTable.step.milliseconds)
      start = max(begun, stageSetAt ?? begun)
      bound = time.map(ResponseTimeStatistics.bound(of:)) ?? 0
    }
  }

  private static let insert = BulkInsert(
    into: "INSERT INTO answer_times (app, environment, hour_start, side, at_most, calls) VALUES",
    then: "ON DUPLICATE KEY UPDATE calls = calls + VALUES(calls)")

  package static func add(_ calls: [Key: Int], in session: borrowing Session) throws(DatabaseError) {
    let rows: [[SQLValue]] = calls.map { key, count in
      key.scope.columns + [
        .integer(key.start.sinceEpoch), .integer(Int64(key.side.rawValue)), .integer(Int64(key.bound)),
        .integer(Int64(count)),
      ]
    }
    _ = try session.insert(insert, rows: rows.inKeyOrder(columns: 5))
  }

  /// Returns the statistics of each side with calls.
  ///
  /// The five minutes that contain `instant` count entirely.
  ///
  /// - Parameter begun: includes only calls under a stage that was set at this time or later.
  package static func read(
    _ scope: AppScope, since instant: Timestamp, begunAt begun: Timestamp = Timestamp(.min),
    in session: borrowing Session
  ) throws(DatabaseError) -> [ResponseTimeStatistics.Side: ResponseTimeStatistics] {
    var calls: [ResponseTimeStatistics.Side: [Int: Int]] = [:]
    for row in try session.query(
      """
      SELECT side, at_most, CAST(SUM(calls) AS SIGNED) AS calls FROM answer_times
        WHERE \(in: scope) AND hour_start > \(instant - step) AND hour_start >= \(begun) GROUP BY side, at_most
      """)
    {
      guard let side = ResponseTimeStatistics.Side(rawValue: try row.int("side")) else { continue }
      calls[side, default: [:]][try row.int("at_most")] = try row.int("calls")
    }
    return calls.mapValues { calls in
      ResponseTimeStatistics(answered: calls.filter { $0.key > 0 }, errors: calls[0] ?? 0)
    }
  }

  /// Deletes calls before `instant`, and returns the number of rows.
  package static func purge(
    before instant: Timestamp, limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    Int(try session.execute("DELETE FROM answer_times WHERE hour_start < \(instant) LIMIT \(limit)").affectedRows)
  }
}
