import JSON
import Ledger
import Operations
import Purchases
import Rollout
import Runtime
import Time

/// `switchyard rollout plan`: the order of the apps, and the next need of each.
enum RolloutPlanCommand {
  static let command = Command(
    "plan", "Show in which order to move the apps, and what each needs for its next step.",
    discussion: """
      The app with the fewest ids comes first: an error then affects the fewest customers. IDS are the originalTransactionIds that are known, COMPARED \
      the customers who were compared in the last 24 hours, IN how long the evidence takes at least if the next days are like the last one: \
      - where an operator has to act first, or nothing was compared yet.
      """,
    examples: [Command.Example("switchyard rollout plan"), Command.Example("switchyard rollout plan --json")],
    options: [JSONOutput.option]
  ) { arguments, terminal in
    try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      let plans = try await RolloutPlan.all(asking: .init(), by: .system, on: connection)
      if arguments.wantsJSON {
        for plan in plans { try terminal.write(plan.json) }
        return .done
      }
      var table = TextTable([
        .init("APP"), .init("ENVIRONMENT"), .init("IDS", .right), .init("COMPARED", .right), .init("STAGE"),
        .init("NEXT"), .init("NEEDS"), .init("IN", .right),
      ])
      for plan in plans {
        let standing = plan.next.standing
        table.add([
          standing.app.bundleID, standing.flag.environment.rawValue, "\(plan.ids)", "\(plan.comparedADay)",
          standing.stageName,
          plan.next.step.map { StageTransition.name($0.stage, $0.share) } ?? "-",
          plan.next.missing.isEmpty ? "nothing" : plan.next.missing.map(\.name).joined(separator: ", "), plan.text,
        ])
      }
      try terminal.write(table.render(for: terminal))
      for plan in plans { terminal.note("\(plan.next.standing.app.bundleID): \(plan.command)") }
      return .done
    }
  }
}

extension RolloutPlan {
  private var days: Int64? { wait.map { ($0.milliseconds + 86_399_999) / 86_400_000 } }

  fileprivate var text: String {
    guard next.step != nil else { return "-" }
    return days.map { $0 == 0 ? "now" : "\($0) d" } ?? "-"
  }

  /// The command that fixes the first missing condition, or takes the step.
  fileprivate var command: String {
    let (app, place) = (next.standing.app.bundleID, next.standing.flag.environment.rawValue)
    if next.step == nil { return "switchyard rollout history \(app)" }
    return next.missing.first?.next(app, place) ?? "switchyard rollout advance \(app) --environment \(place)"
  }

  fileprivate var json: JSONObject {
    let standing = next.standing
    let (app, place) = (standing.app.bundleID, standing.flag.environment.rawValue)
    return [
      "app": .string(app), "environment": .string(place), "ids": .integer(Int64(ids)),
      "comparedADay": .integer(Int64(comparedADay)), "stage": .string(standing.flag.stage.rawValue),
      "percent": .share(standing.flag.share),
      "next": JSONValue(next.step.map { StageTransition.name($0.stage, $0.share) }),
      "missing": next.missingJSON,
      "days": JSONValue(days), "next_steps": [.string(command)],
    ]
  }
}
