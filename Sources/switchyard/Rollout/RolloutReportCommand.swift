import JSON
import Ledger
import Operations
import Purchases
import Rollout
import Runtime
import Time

/// `switchyard rollout report`: the history of an app's rollout, for its sign-off.
enum RolloutReportCommand {
  static let command = Command(
    "report", "Say how an app was moved: what was compared, differed, affected, and is not proven.",
    discussion: """
      Markdown, or a JSON object for each environment. Before `complete` it shows what is known so far; at \
      `complete` it is for the person who signs the migration off. Comparisons count for as long as they are kept.
      """,
    examples: [
      Command.Example("switchyard rollout report com.example.app --environment Production > report.md"),
      Command.Example("switchyard rollout report com.example.app --environment Production --json"),
    ],
    options: [EnvironmentOption.option, JSONOutput.option], arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let environments = try EnvironmentOption.environments(arguments)
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      for environment in environments {
        let report = try await RolloutReport.read(
          arguments.positionals[0], in: environment, at: WallClock.system.now(), on: connection)
        if arguments.wantsJSON { try terminal.write(report.json) } else { try terminal.write(report.markdown) }
      }
      return .done
    }
  }
}

extension RolloutReport {
  /// The evidence missing for `complete`, and the number of compared customers without data.
  private var open: [String] {
    evidence.missing(for: .init(), before: RolloutStep(.complete)).map(\.text)
      + (figures.incomplete > 0 ? ["Apple's history of \(figures.incomplete) compared customers was not known"] : [])
  }

  fileprivate var markdown: String {
    var text = """
      # \(standing.app.bundleID), \(standing.flag.environment.rawValue): \(standing.stageName)

      In this stage since \(standing.flag.changedAt.iso8601). \(ids) originalTransactionIds are known.

      ## Compared with Apple's answers

      | | |
      | --- | ---: |
      | customers | \(figures.customers) |
      | comparisons | \(figures.comparisons) |
      | differing | \(figures.differing) |
      | customers whose access would have differed | \(figures.affected) |
      | customers whose history was not known | \(figures.incomplete) |

      """
    let causes = figures.causes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    if !causes.isEmpty {
      text += "\n## Causes\n\n| cause | comparisons |\n| --- | ---: |\n"
      for (cause, count) in causes { text += "| \(cause) | \(count) |\n" }
    }
    text += "\n## What is not proven\n\n"
    text += open.isEmpty ? "Nothing is missing.\n" : open.map { "* \($0)\n" }.joined()
    text += "\nFields that are not in V2, and what old clients get instead: docs/fidelity.md.\n"
    text += "\n## What was changed\n\n| when | who | action | what and why |\n| --- | --- | --- | --- |\n"
    for change in changes {
      let reason = change.reason.replacing("|", with: "\\|").replacing("\n", with: " ")
      text += "| \(change.at.iso8601) | \(change.actor) | \(change.action) | \(reason) |\n"
    }
    return text
  }

  fileprivate var json: JSONObject {
    let app = standing.app.bundleID
    return [
      "app": .string(app), "environment": .string(standing.flag.environment.rawValue),
      "stage": .string(standing.flag.stage.rawValue), "percent": .share(standing.flag.share),
      "since": .integer(standing.flag.changedAt.sinceEpoch), "ids": .integer(Int64(ids)),
      "customers": .integer(Int64(figures.customers)), "comparisons": .integer(Int64(figures.comparisons)),
      "differing": .integer(Int64(figures.differing)), "affected": .integer(Int64(figures.affected)),
      "unknown": .integer(Int64(figures.incomplete)),
      "causes": figures.causesByName,
      "open": .array(open.map(JSONValue.string)), "evidence": .object(evidence.json(for: .init())),
      "changes": .array(changes.map { .object($0.json) }), "next_steps": [.string("switchyard rollout status \(app)")],
    ]
  }
}
