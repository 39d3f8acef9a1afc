import Database
import JSON
import Ledger
import Operations
import Purchases
import Rollout
import Runtime
import Time

/// `switchyard rollout advance`: one step further, if it is proven.
///
/// Keys and exit statuses are stable.
enum RolloutAdvance {
  static let command = Command(
    "advance", "Take an app to the next stage, if the evidence for it is complete.",
    discussion: """
      The steps are record, shadow, ramp with 1, 5, 25, 50 and 100 percent, live and complete; --percent names \
      another share of customers, larger than the present one. A customer of a share is in each larger one. From ramp on a step needs \
      evidence: an API key and a shared secret; Apple's history of every id, and a decision about ids that Apple's API does \
      not know; complete notifications of the days before; and enough customers compared for the upper bound of the rate of \
      those who would have lost or gained access to be below --max-impact at 95 % confidence. A higher --max-impact or a \
      shorter --complete-for waives evidence, and the audit notes it. Customers whose history is not known do \
      not count as compared; for live and complete they may be 5 percent of all. Within ramp, enough customers for the guard must have been compared since the percentage was set, \
      and the guard must find them sound. From ramp on the guard must also find no breach of impact, errors or latency in \
      its window now; where Apple is not asked there is nothing to find. Comparisons count for 14 days. Evidence of before recording began again does not count. Exit status: 0 \
      done, 4 something is missing; each missing item comes with the command that gets it. After a step the command waits, for \
      five seconds at most, until every running service follows, and says whether they do (--json: `services`).

      `switchyard seeds status APP --ids --state unknown` lists ids that Apple's API does not know. --accept-unknown-ids accepts all that are unknown now: \
      their customers get from a receipt what the receipt says. An id that becomes unknown later holds up a step again. --accept-cancelled-ids \
      accepts the ids of cancelled bulk migrations about which Apple was not asked; `switchyard migrate report JOB` lists them. \
      Neither takes a step: the command then shows what the next step lacks.

      --auto looks every minute, waits for evidence (customers compared, days measured, histories of a \
      migration) for 14 days at most, and stops with exit status 4 and the next command where an operator has to \
      act. Where the guard, `rollout kill` or another operator took Switchyard's answers back, it does not \
      continue before an operator has taken a step by hand. It may be stopped at any time and begun again. It \
      never sets complete.
      """,
    whenStopped: "The stage is what `switchyard rollout status` shows. Run it again to continue.",
    examples: [
      Command.Example("switchyard rollout advance com.example.app --environment Sandbox --json"),
      Command.Example("switchyard rollout advance com.example.app --environment Sandbox --dry-run", "what is missing?"),
      Command.Example("switchyard rollout advance com.example.app --environment Sandbox --percent 10"),
      Command.Example("switchyard rollout advance com.example.app --environment Production --auto", "up to live"),
    ],
    options: [
      .value(
        EnvironmentOption.option.name, "NAME",
        "production, sandbox or all. A step needs it; --dry-run and --auto look at all by default."),
      .value(
        "percent", "N",
        "To ramp: the percentage of customers who get Switchyard's answers, above 0 to 100, with up to two decimals."),
      .value(
        "max-impact", "PERCENT", default: "0.5", formerly: "impact-bound",
        "The rate of customers with an impact that must not be exceeded."),
      .value("complete-for", "TIME", default: "2d", "How long notifications must have been complete: days."),
      .flag("accept-unknown-ids", "Accept the ids that Apple's API does not know, and take no step; needs --reason."),
      .flag("accept-cancelled-ids", "Accept the ids of cancelled migrations, and take no step; needs --reason."),
      .flag("force", "Take the step without evidence; needs --reason, and the audit records it."),
      .value("reason", "TEXT", "Why; kept in the audit."),
      .flag("dry-run", "Show what would be done and do nothing."), JSONOutput.option,
    ] + RolloutAuto.options,
    arguments: [AppCommand.bundleID]
  ) { arguments, terminal in
    guard arguments.flag("auto") || !RolloutAuto.isGiven(arguments) else {
      throw UsageError(.missingOption, "--until, --stay, --every and --once need --auto.", path: arguments.path)
    }
    if arguments.flag("auto") {
      var auto = try RolloutAuto(arguments, asking: try demand(arguments), terminal)
      return try await auto.run()
    }
    // A step in one environment stays even if the other one lacks evidence.
    let environments =
      arguments.flag("dry-run")
      ? try EnvironmentOption.environments(arguments) : try EnvironmentOption.named(arguments)
    let isForced = arguments.flag("force")
    let accepted: [AcceptedIDs] =
      (arguments.flag("accept-unknown-ids") ? [.unknown] : [])
      + (arguments.flag("accept-cancelled-ids") ? [.cancelled] : [])
    let reason = arguments.value("reason")
    guard !isForced && accepted.isEmpty || reason?.isEmpty == false else {
      throw UsageError(.missingOption, "--force and --accept-… need --reason.", path: arguments.path)
    }
    guard accepted.isEmpty || !isForced && arguments.value("percent") == nil else {
      throw UsageError(.invalidValue, "--accept-… takes no step: no --force and --percent.", path: arguments.path)
    }
    guard reason.map({ $0.utf8.count <= 500 }) ?? true else {
      throw UsageError(.invalidValue, "--reason has at most 500 bytes.", path: arguments.path)
    }
    let (share, demand) = (try RolloutSet.percent(arguments), try demand(arguments))
    return try await DatabaseOptions(arguments).withLedger(terminal) { connection in
      var status = ExitStatus.done
      for environment in environments {
        for kind in accepted {
          try await accept(kind, in: environment, because: reason, arguments, terminal, connection)
        }
        let advance = AdvanceRollout(arguments.positionals[0], in: environment, to: share, asking: demand)
        let isTaken = try await take(
          advance, forced: isForced, accepting: !accepted.isEmpty, by: .ofCommand(because: reason), arguments, terminal,
          connection)
        if !isTaken { status = .refused }
      }
      return status
    }
  }

  private static func accept(
    _ kind: AcceptedIDs, in environment: Environment, because reason: String?, _ arguments: ParsedArguments,
    _ terminal: Terminal, _ connection: Connection
  ) async throws {
    let accept = AcceptUnknownIDs(kind, of: arguments.positionals[0], in: environment)
    let (plan, isDry) = (try await accept.plan(on: connection), arguments.flag("dry-run"))
    if !isDry {
      try await accept.apply(plan, by: .ofCommand(because: reason), at: WallClock.system.now(), on: connection)
    }
    terminal.note(
      "\(isDry ? "would be: " : "")\(plan.bundleID) \(environment.rawValue): \(plan.ids) \(kind.name) accepted")
  }

  private static func take(
    _ advance: AdvanceRollout, forced isForced: Bool, accepting isAccepting: Bool, by author: AuditContext,
    _ arguments: ParsedArguments,
    _ terminal: Terminal, _ connection: Connection
  ) async throws -> Bool {
    let now = WallClock.system.now()
    let plan = try await advance.plan(at: now, on: connection)
    let mayGo = plan.isProven || isForced
    if plan.isProven, plan.step?.needsEvidence == true, !isForced {
      try await ClockDiffers.check(.system, on: connection)
    }
    var changes: [SetStage.Change] = []
    if mayGo, !arguments.flag("dry-run"), !isAccepting {
      changes = try await advance.apply(plan, forced: isForced, by: author, at: now, on: connection)
    }
    // Text appears before the wait for the services.
    if !arguments.wantsJSON { try tell(plan, changes, nil, mayGo: mayGo, arguments, terminal) }
    let followed =
      changes.isEmpty ? nil : await PropagationReport.awaited(on: connection, otherwise: RolloutSet.consequence)
    if arguments.wantsJSON { try tell(plan, changes, followed, mayGo: mayGo, arguments, terminal) }
    followed?.note(terminal)
    return mayGo
  }

  /// Parses `--max-impact`, from 0 to 1.
  static func impactBound(_ arguments: ParsedArguments) throws(UsageError) -> Double {
    guard let text = arguments.value("max-impact") else { return RolloutEvidence.Requirements().mostImpact }
    guard let share = RampPercentage(text), share.hundredths > 0, share.hundredths < Bucket.count else {
      throw UsageError(
        .invalidValue, "--max-impact is a percentage above 0 with at most two decimals.", path: arguments.path)
    }
    return Double(share.hundredths) / Double(Bucket.count)
  }

  private static func demand(_ arguments: ParsedArguments) throws(UsageError) -> RolloutEvidence.Requirements {
    var demand = RolloutEvidence.Requirements()
    demand.mostImpact = try impactBound(arguments)
    if let time = try arguments.duration("complete-for", in: .seconds(0)...(.days(30))) {
      demand.completeDays = Int(time.milliseconds / Interval.days(1).milliseconds)
    }
    return demand
  }

  private static func tell(
    _ plan: AdvanceRollout.Plan, _ changes: [SetStage.Change], _ followed: PropagationReport?, mayGo: Bool,
    _ arguments: ParsedArguments, _ terminal: Terminal
  ) throws {
    let (app, place) = (plan.standing.app.bundleID, plan.standing.flag.environment.rawValue)
    let (flag, isDone) = (plan.standing.flag, !changes.isEmpty)
    if arguments.wantsJSON {
      let next =
        isDone
        ? "switchyard rollout status \(app)"
        : plan.missing.first?.next(app, place) ?? "switchyard rollout advance \(app) --environment \(place)"
      return try terminal.write([
        "app": .string(app), "environment": .string(place), "from": .string(flag.stage.rawValue),
        "to": plan.step.map { .string($0.stage.rawValue) } ?? .null, "percent": .share(plan.step?.share),
        "done": .bool(isDone), "forced": .bool(changes.contains(where: \.move.isForced)),
        "services": followed?.json ?? .null,
        "missing": plan.missingJSON, "waived": .array(plan.waived.map { .string($0.name) }),
        "evidence": .object(plan.evidence.json(for: plan.demand)), "next_steps": [.string(next)],
      ])
    }
    guard let step = plan.step else { return try terminal.write("\(app) \(place): is in \(flag.stage.rawValue)\n") }
    let name = "\(StageTransition.name(flag.stage, flag.share)) to \(StageTransition.name(step.stage, step.share))"
    if mayGo {
      let isForced = changes.contains(where: \.move.isForced)
      try terminal.write("\(isDone ? "" : "would: ")\(app) \(place): \(name)\(isForced ? ", forced" : "")\n")
    } else {
      try terminal.write("\(app) \(place): \(name) is not proven yet\n")
    }
    if isDone, step.stage == .complete {
      terminal.note("for the person who signs it off: `switchyard rollout report \(app) --environment \(place)`")
    }
    if plan.exceedsGuard {
      let percent = GuardRule.percent(Int(plan.demand.mostImpact * 1_000_000))
      terminal.note(
        """
        the guard takes the app back above \(GuardRule.percent(plan.rule.mostImpact)), regardless of --max-impact. If \
        \(percent) is right: switchyard rollout guard \(app) --environment \(place) --max-impact \
        \(percent.filter { $0 != "%" && $0 != " " })
        """)
    }
    for waived in plan.waived { terminal.note("waived by lowered demands: \(waived.name): \(waived.text)") }
    for missing in plan.missing {
      terminal.note("\(missing.name): \(missing.text)")
      terminal.note("  next: \(missing.next(app, place))")
    }
  }
}

extension AdvanceRollout.Plan {
  var missingJSON: JSONValue {
    let (app, place) = (standing.app.bundleID, standing.flag.environment.rawValue)
    return .array(
      missing.map {
        ["evidence": .string($0.name), "next": .string($0.next(app, place)), "detail": .string($0.text)]
      })
  }
}

extension RolloutEvidence {
  func json(for demand: Requirements) -> JSONObject {
    [
      "customers": .integer(Int64(customers)), "affected": .integer(Int64(affected)),
      "incomplete": .integer(Int64(incomplete)), "stepCustomers": JSONValue(step.map { Int64($0.customers) }),
      "stepAffected": JSONValue(step.map { Int64($0.affected) }), "guardBreach": breach?.json ?? .null,
      "impactBound": .string(ConfidenceBound.percent(impactBound)),
      "impactBoundAsked": .string(ConfidenceBound.percent(demand.mostImpact)),
      "openSeeds": .integer(Int64(ids.waiting)), "failedSeeds": .integer(Int64(ids.failed)),
      "unknownIds": .integer(Int64(ids.unknown)), "migrationIds": .integer(Int64(ids.migrating)),
      "migrationParts": .integer(Int64(ids.unreadParts)),
      "cancelledMigrationIds": .integer(Int64(ids.cancelled)), "measuredDays": .integer(Int64(measuredDays)),
      "incompleteDays": .integer(Int64(incompleteDays)), "apiKey": .bool(hasAPIKey),
      "sharedSecret": .bool(hasSharedSecret),
    ]
  }
}
