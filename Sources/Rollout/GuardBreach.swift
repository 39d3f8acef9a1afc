/// Which of the guard's thresholds was exceeded, and by which figures.
package enum GuardBreach: Hashable, Sendable {
  case impact(affected: Int, customers: Int)
  /// Calls without an answer of ours, and of Apple's.
  case errors(Int, calls: Int, appleErrors: Int, appleCalls: Int)
  /// Ours took more than `milliseconds` at p99, Apple's no more than `appleMilliseconds`.
  case latency(milliseconds: Int, appleMilliseconds: Int)

  /// The word of each cause.
  package static let causes = ["impact", "errors", "latency"]

  /// One word for programs, of `causes`.
  package var cause: String {
    switch self {
    case .impact: "impact"
    case .errors: "errors"
    case .latency: "latency"
    }
  }

  /// The figures, for people.
  package var text: String {
    switch self {
    case .impact(let affected, let customers):
      "\(affected) of \(customers) customers would have had other access"
    case .errors(let errors, let calls, let appleErrors, let appleCalls):
      "\(errors) of \(calls) calls got no answer from Switchyard, \(appleErrors) of \(appleCalls) none from Apple"
    case .latency(let ours, let apple):
      "Switchyard's p99 is more than \(ours) ms, Apple's at most \(apple) ms"
    }
  }

  /// The figures by name, for programs.
  package var figures: [(name: String, value: Int)] {
    switch self {
    case .impact(let affected, let customers): [("affected", affected), ("customers", customers)]
    case .errors(let errors, let calls, let appleErrors, let appleCalls):
      [("errors", errors), ("calls", calls), ("appleErrors", appleErrors), ("appleCalls", appleCalls)]
    case .latency(let ours, let apple): [("p99MoreThanMilliseconds", ours), ("appleP99AtMostMilliseconds", apple)]
    }
  }

  /// The commands by which an operator sees more.
  package func next(_ app: String, _ environment: String) -> [String] {
    let status = "switchyard rollout status \(app)"
    switch self {
    case .impact: return ["switchyard compare list --app \(app) --environment \(environment) --impact", status]
    case .errors, .latency: return [status, "switchyard doctor"]
    }
  }
}
