import Database
import Ledger
import Operations
import Purchases
import Rollout
import Runtime
import Time

/// What a kill says on stderr.
extension RolloutKill {
  /// Said once when it takes longer than a moment.
  static func waiting(_ error: DatabaseError, _ left: [RolloutStanding]) -> String {
    let names = left.isEmpty ? "" : " for \(left.map(name).joined(separator: ", "))"
    return "Not done yet\(names): \(reason(error)). Trying for 25 seconds."
  }

  static func reason(_ error: DatabaseError) -> String {
    switch error.code {
    case .lockWaitTimeout: "somebody holds the app's row"
    case .abandoned, .deadlock, .recordChanged: "the time was over, or others keep changing stages"
    case .commitOutcomeUnknown: "the connection broke during the commit"
    default: "the database failed"
    }
  }

  static func noteLeft(_ left: [RolloutStanding], _ error: DatabaseError, _ terminal: Terminal) {
    let answered = left.filter { StopAnswering.effect(on: $0) == .stopped }
    if left.isEmpty {
      terminal.note(
        "It could not be read whether anything else is answered: \(reason(error)). Look at `switchyard rollout status`."
      )
    }
    if !answered.isEmpty {
      let names = answered.map { "\(name($0)) (\($0.stageName))" }.joined(separator: ", ")
      let outcome = error.code == .commitOutcomeUnknown ? "It is not known whether it is stopped" : "NOT stopped"
      terminal.note(notDone("\(outcome): \(names): \(reason(error)).", error))
    }
    for standing in left where StopAnswering.effect(on: standing) == .kept {
      terminal.note(
        """
        \(name(standing)): in shadow, so Apple answers; but \(reason(error)), so `rollout auto` may move the app on. \
        Repeat the command.
        """)
    }
  }

  static func notDone(_ outcome: String, _ error: DatabaseError) -> String {
    let advice =
      error.code == .lockWaitTimeout
      ? """
      It is a frozen service (`switchyard rollout status` names those that are silent: stop them), another session of the \
      database, or a database that is very slow. Then repeat the command.
      """ : "Repeat the command once the database answers."
    return """
      \(outcome) \(advice) Services that reach the database go on giving Switchyard's answers there: stop them if you cannot \
      repeat it. Services that cannot reach the database leave calls about apps in ramp and live to Apple; they go on \
      answering for apps in complete: runbooks/rollback.md, *If not*.
      """
  }

  static func noteStillAnswered(_ report: StopAnswering.Report, isDry: Bool, _ terminal: Terminal) {
    let left = report.stillAnswered.map { "\(name($0)) (\($0.stageName))" }
    if !left.isEmpty {
      terminal.note("Still answered by Switchyard: \(left.joined(separator: ", ")).")
    } else if report.trouble == nil || report.left.contains(where: { StopAnswering.effect(on: $0) == .kept }),
      !report.left.contains(where: { StopAnswering.effect(on: $0) == .stopped })
    {
      terminal.note("\(isDry ? "No other app is" : "No app is left") in ramp, live or complete.")
    }
  }

  /// Says how many are left as they were: a line for each would hide those that were stopped.
  static func noteSpared(_ report: StopAnswering.Report, _ terminal: Terminal) {
    let spared = report.spared
    guard !spared.isEmpty else { return }
    let inShadow = spared.count { StopAnswering.effect(on: $0) == .kept }
    terminal.note(
      """
      Apple answers already: \(inShadow) in shadow, \(spared.count - inShadow) in a stage below it \
      (`switchyard rollout status` lists them).
      """)
  }

  /// Says where Apple's verifyReceipt, which answers from now on, failed in the last hour.
  static func noteErrors(
    of stopped: [RolloutStanding], _ connection: Connection, _ terminal: Terminal
  ) async {
    let now = WallClock.system.now()
    for standing in stopped {
      let apple = try? await connection.read { session throws(DatabaseError) in
        try AnswerTimeTable.read(
          Scope(app: standing.app.id, environment: standing.flag.environment), since: now - .hours(1),
          in: session)[.apple]
      }
      guard let apple, apple.errors > apple.answers else { continue }
      terminal.note(
        """
        \(name(standing)): in the last hour Apple's verifyReceipt left \(apple.errors) of \
        \(apple.errors + apple.answers) calls unanswered; in shadow it answers all of them
        """)
    }
  }
}
