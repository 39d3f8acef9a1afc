package import Database
package import Ledger
package import Purchases
package import Rollout
package import Time

/// The status of a rollout: the stage, the last day's comparisons, the response times of both sides, and the guard.
package struct RolloutStatus: Sendable {
  package let standing: AppRollout
  package let figures: ComparisonStatistics
  /// The response times of each called side in the last 24 hours, in whole steps of five minutes.
  ///
  /// Switchyard's include responses that were sent and those that were only compared.
  package let answers: [ResponseTimeStatistics.Side: ResponseTimeStatistics]
  package let rule: GuardRule
  /// `nil` if the guard is inactive because no caller gets Switchyard's responses.
  package let verdict: GuardRule.Status?
  /// The data of the verdict.
  package let seen: GuardStatistics?

  /// The period of the shown comparisons.
  package static let span = Interval.hours(24)

  /// Returns the apps by name, each with its environments.
  ///
  /// - Parameters:
  ///   - bundleID: `nil` for all apps.
  ///   - environment: `nil` for both.
  package static func all(
    of bundleID: String?, in environment: Environment? = nil, at now: Timestamp, on connection: Connection
  ) async throws -> [RolloutStatus] {
    if let bundleID { _ = try await AppRecord.find(bundleID, connection) }
    return try await connection.read { session throws(DatabaseError) in
      let rules = try GuardTable.all(in: session)
      var all: [RolloutStatus] = []
      for standing in try AppRollout.all(in: session) {
        guard bundleID == nil || standing.app.bundleID == bundleID,
          environment == nil || standing.flag.environment == environment
        else { continue }
        let figures = try ComparisonStatistics.read(
          standing.scope, since: max(now - span, standing.flag.recordingSince), in: session)
        var answers = try AnswerTimeTable.read(standing.scope, since: now - span, in: session)
        if let composed = answers.removeValue(forKey: .composed) {
          answers[.ours] = (answers[.ours] ?? ResponseTimeStatistics()) + composed
        }
        let rule = rules[standing.scope] ?? GuardRule()
        var seen: GuardStatistics?
        if standing.isAnswered, standing.flag.stage.comparesAnswers {
          seen = try GuardStatistics.read(
            standing.scope, by: rule, since: standing.flag.changedAt, at: now, in: session)
        }
        all.append(
          RolloutStatus(
            standing: standing, figures: figures, answers: answers, rule: rule,
            verdict: seen.map { rule.verdict(of: $0) }, seen: seen))
      }
      return all
    }
  }

  /// The command with which an operator continues, or sees the obstacle.
  package var next: String {
    let of = "\(standing.app.bundleID) --environment \(standing.flag.environment.rawValue)"
    if figures.affected > 0 { return "switchyard compare list --app \(of) --impact" }
    return standing.flag.stage == .complete
      ? "switchyard rollout history \(standing.app.bundleID)" : "switchyard rollout advance \(of) --dry-run"
  }
}
