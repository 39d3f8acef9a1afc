package import Database
package import Rollout
package import Time

extension GuardStatistics {
  /// Returns an app's statistics since its stage was set, within the window of a rule.
  ///
  /// The five minutes that contain the beginning of the window count entirely, for both sides.
  ///
  /// - Parameter changedAt: when the stage or its share was set.
  package static func read(
    _ scope: AppScope, by rule: GuardRule, since changedAt: Timestamp, at now: Timestamp,
    in session: borrowing Session
  ) throws(DatabaseError) -> GuardStatistics {
    let start = max(now - .seconds(Int64(rule.window)), changedAt)
    let compared = try ComparisonStatistics.read(scope, since: start, in: session)
    var figures = GuardStatistics(customers: compared.customers, affected: compared.affected)
    guard rule.mostErrors > 0 || rule.mostLatency > 0 else { return figures }
    let answers = try AnswerTimeTable.read(scope, since: start, begunAt: changedAt, in: session)
    if let ours = answers[.ours] {
      figures.ours = Answers(calls: ours.calls, errors: ours.errors, slowest: ours.millisecondsExceeded(beyond: 0.99))
    }
    if let apple = answers[.apple] {
      figures.apple = Answers(
        calls: apple.calls, errors: apple.errors, slowest: apple.milliseconds(withinOfCalls: 0.99))
    }
    return figures
  }
}
