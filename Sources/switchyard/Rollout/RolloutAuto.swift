import Database
import JSON
import Ledger
import Operations
import Purchases
import Rollout
import Runtime
import Time

/// `switchyard rollout auto`: takes an app from step to step for as long as each is proven.
enum RolloutAuto {
  static let command = Command(
    "auto", "Take an app through the ramp by itself, each step when it is proven.",
    discussion: """
      The same steps, and the same evidence, as `rollout advance`: record, shadow, ramp with 1, 5, 25, 50 and 100 percent, live. It \
      looks every minute, waits for what comes by itself (customers compared, days measured, histories of a migration), and \
      stops with exit status 4 and the next command where somebody has to do something; where the guard, `rollout kill` or somebody else \
      took our answers back it does not go on before an operator has taken a step by hand. It may be stopped at any time and begun again. complete \
      is never reached so.

      FILE is a JSON object; each member may be left out: `until` (the last stage, "live" or "ramp 10", with any percentage), `impactBound` (percent, \
      as text: "0.5"), `completeDays`, `leastHours` (how long customers get our answers at one step before the next: 24), `waitHours` \
      (how long a stage may wait for its evidence: 336).
      """,
    whenStopped: "The stage is what `switchyard rollout status` shows. Run it again to go on.",
    examples: [
      Command.Example("switchyard rollout auto com.example.app --environment Sandbox"),
      Command.Example(
        "switchyard rollout auto com.example.app --environment Production --policy careful.json --json"),
      Command.Example("switchyard rollout auto com.example.app --environment Sandbox --once", "for cron"),
    ],
    options: [
      EnvironmentOption.option, .value("policy", "FILE", "How far, and by which evidence; - is stdin."),
      .value("every", "TIME", default: "60s", "How often it looks."),
      .flag("once", "Look once, take the step if it is proven, and end."),
      .value("reason", "TEXT", "Why; kept in the audit."),
      .flag("dry-run", "Say what would be done now and do nothing."), JSONOutput.option,
    ],
    arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    let environment = try EnvironmentOption.required(arguments)
    let every = try arguments.duration("every", in: .seconds(1)...(.days(1))) ?? .minutes(1)
    let policy = try arguments.value("policy").map { try RolloutPolicy(file: $0) } ?? RolloutPolicy()
    let auto = AutomateRollout(arguments.positionals[0], in: environment, by: policy)
    let author = Author.ofCommand(because: "automatic" + (arguments.value("reason").map { ", \($0)" } ?? ""))
    let (options, saying) = (try DatabaseOptions(arguments), Saying(arguments.wantsJSON, terminal))
    let isSingle = arguments.flag("once") || arguments.flag("dry-run")
    while !Task.isCancelled {
      saying.hasMoved = false
      do {
        // A connection for each look: between two of them the database may be started anew.
        let end = try await options.withLedger(terminal) { connection in
          try await look(auto, isDry: arguments.flag("dry-run"), author, saying, connection)
        }
        if let end { return end }
        if isSingle { return .done }
      } catch let error as DatabaseError where !isSingle && error.passes {
        terminal.note("\(error); looking again in \(every.asOption)")
      }
      if saying.hasMoved { continue }
      try? await Task.sleep(for: .milliseconds(every.milliseconds))
    }
    return .stopped
  }

  /// What was said last.
  private final class Saying {
    private let wantsJSON: Bool
    private let terminal: Terminal
    private var last = ""
    /// Whether a step was taken at the last look: the next one may be proven already.
    var hasMoved = false

    init(_ wantsJSON: Bool, _ terminal: Terminal) { (self.wantsJSON, self.terminal) = (wantsJSON, terminal) }

    /// Says it, unless it is what was said last.
    ///
    /// - Parameter key: what makes it another thing than the last; numbers that change by the minute do not.
    func say(_ plan: AdvanceRollout.Plan, _ what: String, _ text: String, key: String? = nil) throws {
      hasMoved = what == "advanced"
      guard key ?? text != last else { return }
      last = key ?? text
      if wantsJSON { return try terminal.write(plan.json(what, text)) }
      let place = "\(plan.standing.app.bundleID) \(plan.standing.flag.environment.rawValue)"
      try terminal.write("\(place): \(text)\n")
    }
  }

  /// Looks once, and takes the step if it is proven; the exit status where nothing is left to do.
  private static func look(
    _ auto: AutomateRollout, isDry: Bool, _ author: Author, _ saying: Saying, _ connection: Connection
  ) async throws -> ExitStatus? {
    let now = WallClock.system.now()
    switch try await auto.plan(at: now, on: connection) {
    case .reached(let plan):
      try saying.say(plan, "reached", "is in \(plan.now), as far as the policy goes")
      return .done
    case .advance(let plan):
      let step = plan.step.map { Move.name($0.stage, $0.share) } ?? ""
      if isDry {
        try saying.say(plan, "wouldAdvance", "would: \(plan.now) to \(step)")
      } else {
        if plan.step?.needsEvidence == true { try await ClockDiffers.check(.system, on: connection) }
        _ = try await auto.apply(plan, by: author, at: now, on: connection)
        try saying.say(plan, "advanced", "\(plan.now) to \(step)")
      }
      return nil
    case .wait(let plan):
      let why =
        plan.missing.isEmpty
        ? "it has not been at this step for long enough" : plan.missing.map(\.text).joined(separator: "; ")
      try saying.say(
        plan, "waits", "\(plan.now) waits: \(why)", key: "\(plan.now) \(plan.missing.map(\.name))")
      return nil
    }
  }
}

extension DatabaseError {
  /// Whether it may be gone at the next look: the server is started anew, or somebody else changed the stage.
  fileprivate var passes: Bool {
    switch code {
    case .abandoned, .timedOut, .commitOutcomeUnknown: true
    default: isRetryable
    }
  }
}

extension AdvanceRollout.Plan {
  /// The stage as it is.
  fileprivate var now: String { Move.name(standing.flag.stage, standing.flag.share) }

  fileprivate func json(_ what: String, _ text: String) -> JSONObject {
    let (app, place) = (standing.app.bundleID, standing.flag.environment.rawValue)
    return [
      "app": .string(app), "environment": .string(place), "event": .string(what),
      "stage": .string(standing.flag.stage.rawValue), "percent": .share(standing.flag.share),
      "to": .string(step.map { Move.name($0.stage, $0.share) } ?? ""), "text": .string(text),
      "missing": .array(missing.map { ["evidence": .string($0.name), "next": .string($0.next(app, place))] }),
      "next_steps": [.string(missing.first?.next(app, place) ?? "switchyard rollout status \(app)")],
    ]
  }
}

extension RolloutPolicy {
  /// What a file says; `FileError` with what is wrong with it.
  fileprivate init(file: String) throws {
    self.init()
    func wrong(_ reason: String) -> FileError { FileError(file, reason: reason) }
    let bytes = try Input.read(file, limit: 64 << 10)
    guard let object = try? JSONReader.read(bytes).object else {
      throw wrong("it is no JSON object")
    }
    for member in object {
      switch member.key {
      case "until":
        guard let step = member.value.string.flatMap(RolloutStep.init(text:)), step < RolloutStep(.complete) else {
          throw wrong("until is record, shadow, live, or ramp with a percentage above 0, as \"ramp 10\"")
        }
        until = step
      case "impactBound":
        guard let share = member.value.string.flatMap({ RampShare($0) }), share.hundredths > 0,
          share.hundredths < Bucket.count
        else { throw wrong("impactBound is a percentage above 0 with at most two decimals, as a text") }
        demand.mostImpact = Double(share.hundredths) / Double(Bucket.count)
      case "completeDays":
        guard let days = member.value.integer, (0...30).contains(days) else {
          throw wrong("completeDays is a number from 0 to 30")
        }
        demand.completeDays = Int(days)
      case "leastHours":
        guard let hours = member.value.integer, (0...8_760).contains(hours) else {
          throw wrong("leastHours is a number from 0 to 8760")
        }
        leastHours = Int(hours)
      case "waitHours":
        guard let hours = member.value.integer, (1...8_760).contains(hours) else {
          throw wrong("waitHours is a number from 1 to 8760")
        }
        patience = Int(hours)
      default:
        throw wrong(
          "\(SafeText.escaped(member.key, limit: 40, quotes: true)) is none of until, impactBound, completeDays, leastHours and waitHours"
        )
      }
    }
  }
}

extension RolloutStep {
  /// `live`, or `ramp 25`.
  fileprivate init?(text: String) {
    let word = text.lowercased().filter { $0 != " " }
    if word.hasPrefix("ramp") {
      guard let share = RampShare(String(word.dropFirst(4))), share.hundredths > 0 else { return nil }
      self.init(.ramp, share)
    } else {
      guard let stage = Stage(rawValue: word) else { return nil }
      self.init(stage)
    }
  }
}
