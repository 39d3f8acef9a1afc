import JSON
import Ledger
import Operations
import Purchases
import Rollout
import Runtime
import Signing

/// The output of `switchyard migrate verify`: the requests, their results, and the next step.
struct VerifyReport {
  private let verify: VerifyMigration
  private let plan: VerifyMigration.Plan
  private let arguments: ParsedArguments
  private let terminal: Terminal

  init(
    _ verify: VerifyMigration, _ plan: VerifyMigration.Plan, _ arguments: ParsedArguments, _ terminal: Terminal
  ) {
    (self.verify, self.plan, self.arguments, self.terminal) = (verify, plan, arguments, terminal)
  }

  private var job: MigrationJob { plan.job }

  /// Prints the planned requests and the IDs that cannot be compared.
  func tell(calls: Int) throws {
    let isDry = arguments.flag("dry-run")
    for place in plan.places {
      var object = json(of: place)
      if isDry { object["dryRun"] = true }
      if let obstacle = place.obstacle {
        let next = obstacle.next(place.app.bundleID, place.environment)
        terminal.note("\(place.name): Nothing is compared: \(obstacle.text). Run `\(next)`.")
        object["verdict"] = "notCompared"
        object["obstacle"] = .string(obstacle.rawValue)
        object["next_steps"] = .array([.string(next)])
      } else {
        let (wanted, most) = (min(place.usable, verify.wanted), min(place.usable, verify.mostCalls))
        terminal.note(
          """
          \(place.name): up to \(wanted.counted("customer")) of \(place.usable.counted("row")) are compared, with at most \
          \(most.counted("call")) of Apple's verifyReceipt; about \((wanted / calls / 60 + 1).counted("minute"))
          """)
        guard isDry else { continue }
        object["mostCustomers"] = .integer(Int64(wanted))
        object["mostCalls"] = .integer(Int64(most))
        object["rejected"] = .integer(Int64(place.rejected))
        object["next_steps"] = .array([.string(again(place))])
      }
      if arguments.wantsJSON { try terminal.write(object) }
    }
    if plan.places.isEmpty { try tellOfNothing() }
    if !job.state.isFinal {
      terminal.note("migration \(job.id) is \(job.state.name): customers without a known history are not counted")
    }
  }

  private func tellOfNothing() throws {
    let named = [arguments.value("app"), try EnvironmentOption.environment(arguments)?.rawValue].compactMap(\.self)
    let whose = named.isEmpty ? "a registered app in a known environment" : named.joined(separator: " ")
    let rejects = plan.rejected == 0 ? "" : "; \(plan.rejected.counted("row")) rejected"
    // More rows may follow.
    let command = !job.state.isFinal ? "watch" : plan.rejected == 0 ? "report" : "rejects"
    let next = "switchyard migrate \(command) \(job.id)"
    terminal.note("migration \(job.id) has no usable rows for \(whose)\(rejects). Run `\(next)`.")
    guard arguments.wantsJSON else { return }
    try terminal.write([
      "job": .integer(Int64(job.id)), "verdict": "notCompared", "obstacle": "noUsableRows",
      "rejected": .integer(Int64(plan.rejected)), "next_steps": .array([.string(next)]),
    ])
  }

  func tell(_ proof: MigrationVerification, of place: VerifyMigration.VerifiedScope) throws {
    let next = next(after: proof, of: place)
    if arguments.wantsJSON {
      var object = json(of: place)
      for member in proof.json.members { object[member.key] = member.value }
      object["next_steps"] = .array([.string(next)])
      return try terminal.write(object)
    }
    if let failure = proof.failure {
      terminal.note("Apple did not answer \(proof.unanswered.counted("call")), first: \(failure.plain)")
    }
    try terminal.write("\(place.name): \(proof.text)\n  \(verdict(proof))\n  next: \(next)\n")
  }

  private func json(of place: VerifyMigration.VerifiedScope) -> JSONObject {
    [
      "app": .string(place.app.bundleID), "environment": .string(place.environment.rawValue),
      "usable": .integer(Int64(place.usable)),
    ]
  }

  private func verdict(_ proof: MigrationVerification) -> String {
    let bound =
      "at 95 % confidence at most \(ConfidenceBound.percent(proof.bound)) of the customers with a usable receipt would have different access"
    switch proof.verdict {
    case .proven: return "proven: \(bound)"
    case .affected: return "not proven: \(bound)"
    case .wrongSecret: return "Apple refuses the registered shared secret (21004): nothing was compared"
    case .incomplete, .tooFew: break
    }
    let few = proof.verdict == .tooFew ? " Few customers were compared: \(bound)." : ""
    if proof.isStopped { return "not proven: the command was stopped. Finished comparisons count.\(few)" }
    if let text = cause(proof) { return "not proven: \(text).\(few)" }
    if proof.asked == 0 { return "not proven: no usable row is a receipt that can be sent to Apple." }
    return "not proven." + (few.isEmpty ? " Too many receipts could not be compared." : few)
  }

  private func cause(_ proof: MigrationVerification) -> String? {
    guard let cause = proof.cause else { return nil }
    let count = proof.count(cause)
    let receipts = "\(count) of \(proof.asked.counted("receipt"))"
    return switch cause {
    case .unanswered: "Apple did not answer \(count) of \(proof.asked.counted("call")). Finished comparisons count"
    case .failed: "the database of Switchyard failed for \(receipts). Finished comparisons count"
    case .unproven:
      """
      this command cannot prove \(receipts). Pass the same --trust-root options as the process that ran the job
      """
    case .incomplete: "the history of \(count.counted("customer")) is not known"
    case .otherEnvironment: "\(receipts) belong to the other environment"
    }
  }

  private func next(after proof: MigrationVerification, of place: VerifyMigration.VerifiedScope) -> String {
    let (app, environment) = (place.app.bundleID, place.environment.rawValue)
    let comparisons = "switchyard compare list --app \(app) --environment \(environment)"
    switch proof.verdict {
    case .proven: return "switchyard rollout advance \(app) --environment \(environment)"
    case .affected: return "\(comparisons) --impact"
    case .wrongSecret: return VerifyMigration.Obstacle.noSharedSecret.next(app, place.environment)
    case .incomplete, .tooFew: break
    }
    if proof.isStopped { return again(place) }
    switch proof.cause {
    case .unanswered, .failed: return again(place)
    case .unproven:
      let named = AppStoreEnvironment(rawValue: environment) ?? .production
      return again(place) + TrustOptions.missing(for: named, arguments)
    case .incomplete: return job.state.isFinal ? "\(comparisons) --cause incomplete" : watch
    case .otherEnvironment: return job.state.isFinal ? "switchyard migrate report \(job.id)" : watch
    case nil: break
    }
    if !job.state.isFinal { return watch }
    return place.isInShadow
      ? comparisons : "switchyard rollout set \(app) shadow --environment \(environment) --reason TEXT"
  }

  private var watch: String { "switchyard migrate status \(job.id) --watch" }

  /// Returns this command for one app and environment with the given options, except `--database`, whose URL may
  /// contain a password.
  private func again(_ place: VerifyMigration.VerifiedScope) -> String {
    "switchyard migrate verify \(job.id) --app \(place.app.bundleID) --environment \(place.environment.rawValue)"
      + arguments.again(["max-impact", "receipts-per-second", "data-dir", "master-key-file", "base-url"])
      + TrustOptions.given(arguments)
  }
}

extension VerifyMigration.VerifiedScope {
  var name: String { "\(app.bundleID) \(environment.rawValue)" }
}
