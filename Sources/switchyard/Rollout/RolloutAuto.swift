import Database
import JSON
import Ledger
import Operations
import Purchases
import Rollout
import Runtime
import Time

/// `switchyard rollout advance --auto`: steps as long as each is proven.
struct RolloutAuto {
  static let options: [Option] = [
    .flag("auto", "Take step after step, each when its evidence is complete."),
    .value(
      "until", "STEP", default: "live",
      "The last step of --auto: shadow, live, or ramp with a percentage, as \"ramp 10\"."),
    .value("stay", "TIME", default: "24h", "How long --auto keeps customers at one step before it takes the next."),
    .value("every", "TIME", default: "60s", "How often --auto looks."),
    .flag("once", "With --auto, for cron: look once, take the step if it is proven, and end."),
  ]

  static func isGiven(_ arguments: ParsedArguments) -> Bool {
    arguments.flag("once") || ["until", "stay", "every"].contains { !arguments.valuesGiven($0).isEmpty }
  }

  private let auto: AutomateRollout
  private let author: AuditContext
  private let options: DatabaseOptions
  private let every: Interval
  private let isOnce: Bool
  private let wantsJSON: Bool
  private let terminal: Terminal
  private var said = ""

  init(_ arguments: ParsedArguments, asking demand: RolloutEvidence.Requirements, _ terminal: Terminal) throws {
    let others = ["force", "dry-run", "accept-unknown-ids", "accept-cancelled-ids"]
    guard arguments.value("percent") == nil, !others.contains(where: arguments.flag) else {
      throw UsageError(
        .invalidValue, "--auto has no --percent, --force, --dry-run and --accept-….", path: arguments.path)
    }
    let until = arguments.value("until") ?? "live"
    guard let last = RolloutStep(text: until), last < RolloutStep(.complete) else {
      throw UsageError(
        .invalidValue, "--until is shadow, live, or ramp with a percentage above 0, as \"ramp 10\".",
        path: arguments.path)
    }
    guard let environment = try EnvironmentOption.environment(arguments) else {
      throw UsageError(.missingOption, "--auto needs --environment production or sandbox.", path: arguments.path)
    }
    auto = AutomateRollout(
      arguments.positionals[0], in: environment, until: last,
      staying: try arguments.duration("stay", in: .seconds(0)...(.days(365))) ?? AutomateRollout.stay, asking: demand)
    author = .ofCommand(because: "automatic" + (arguments.value("reason").map { ", \($0)" } ?? ""))
    every = try arguments.duration("every", in: .seconds(1)...(.days(1))) ?? .minutes(1)
    (options, isOnce) = (try DatabaseOptions(arguments), arguments.flag("once"))
    (wantsJSON, self.terminal) = (arguments.wantsJSON, terminal)
  }

  mutating func run() async throws -> ExitStatus {
    while !Task.isCancelled {
      var hasMoved = false
      do {
        // Each check opens a connection: the database may restart between two of them.
        let (terminal, options) = (terminal, options)
        let (end, moved) = try await options.withLedger(terminal) { connection in try await look(connection) }
        if let end { return end }
        hasMoved = moved
        if isOnce { return .done }
      } catch let error as DatabaseError where !isOnce && error.passes {
        terminal.note("\(error); looking again in \(every.asOption)")
      }
      // The next step may be proven already.
      if hasMoved { continue }
      try? await Task.sleep(for: .milliseconds(every.milliseconds))
    }
    return .stopped
  }

  /// Checks once, and takes the step if it is proven.
  ///
  /// Returns the exit status if it is done, and whether it took a step.
  private mutating func look(_ connection: Connection) async throws -> (ExitStatus?, Bool) {
    let now = WallClock.system.now()
    switch try await auto.plan(at: now, on: connection) {
    case .reached(let plan):
      try say(plan, "reached", "is in \(plan.standing.stageName), as far as --until goes")
      return (.done, false)
    case .advance(let plan):
      if plan.step?.needsEvidence == true { try await ClockDiffers.check(.system, on: connection) }
      _ = try await auto.apply(plan, by: author, at: now, on: connection)
      try say(
        plan, "advanced",
        "\(plan.standing.stageName) to \(plan.step.map { StageTransition.name($0.stage, $0.share) } ?? "")")
      return (nil, true)
    case .wait(let plan):
      let why =
        plan.missing.isEmpty
        ? "it has not been at this step for long enough" : plan.missing.map(\.text).joined(separator: "; ")
      try say(
        plan, "waits", "\(plan.standing.stageName) waits: \(why)",
        key: "\(plan.standing.stageName) \(plan.missing.map(\.name))")
      return (nil, false)
    }
  }

  /// Prints the text, unless it was printed last.
  ///
  /// - Parameter key: identifies the text regardless of numbers that change every minute.
  private mutating func say(_ plan: AdvanceRollout.Plan, _ what: String, _ text: String, key: String? = nil) throws {
    guard key ?? text != said else { return }
    said = key ?? text
    let (app, place) = (plan.standing.app.bundleID, plan.standing.flag.environment.rawValue)
    guard wantsJSON else { return try terminal.write("\(app) \(place): \(text)\n") }
    try terminal.write([
      "app": .string(app), "environment": .string(place), "event": .string(what),
      "stage": .string(plan.standing.flag.stage.rawValue), "percent": .share(plan.standing.flag.share),
      "to": .string(plan.step.map { StageTransition.name($0.stage, $0.share) } ?? ""), "text": .string(text),
      "missing": plan.missingJSON,
      "next_steps": [.string(plan.missing.first?.next(app, place) ?? "switchyard rollout status \(app)")],
    ])
  }
}

extension DatabaseError {
  /// Whether the error may disappear by the next check: the server restarts, or another process changed the stage.
  fileprivate var passes: Bool {
    switch code {
    case .abandoned, .timedOut, .commitOutcomeUnknown: true
    default: isRetryable
    }
  }
}

extension RolloutStep {
  /// `live`, or `ramp 25`.
  fileprivate init?(text: String) {
    let word = text.lowercased().filter { $0 != " " }
    if word.hasPrefix("ramp") {
      guard let share = RampPercentage(String(word.dropFirst(4))), share.hundredths > 0 else { return nil }
      self.init(.ramp, share)
    } else {
      guard let stage = Stage(rawValue: word) else { return nil }
      self.init(stage)
    }
  }
}
