import JSON
import Ledger
import Operations
import Purchases
import Rollout
import Runtime

/// What `switchyard migrate verify` prints: what it is going to ask, what came of it, and what to do next.
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

  /// What is going to be asked, and of what nothing is compared.
  func tell(calls: Int) throws {
    let isDry = arguments.flag("dry-run")
    for place in plan.places {
      var object = json(of: place)
      if isDry { object["dryRun"] = true }
      if let obstacle = place.obstacle {
        let next = obstacle.next(place.app.bundleID, place.environment)
        terminal.note("\(place.name): nothing is compared: \(obstacle.text): `\(next)`")
        object["verdict"] = "notCompared"
        object["obstacle"] = .string(obstacle.rawValue)
        object["next_steps"] = .array([.string(next)])
      } else {
        let (wanted, most) = (min(place.usable, verify.wanted), min(place.usable, verify.mostCalls))
        terminal.note(
          """
          \(place.name): up to \(wanted) customers of \(place.usable) rows are compared, with \(most) calls of Apple's \
          verifyReceipt at most; about \(wanted / calls / 60 + 1) minutes
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
    let rejects = plan.rejected == 0 ? "" : "; \(plan.rejected) rows were rejected"
    let next = "switchyard migrate \(plan.rejected == 0 ? "report" : "rejects") \(job.id)"
    terminal.note("migration \(job.id) has no usable row of \(whose)\(rejects): `\(next)`")
    guard arguments.wantsJSON else { return }
    try terminal.write([
      "job": .integer(Int64(job.id)), "verdict": "notCompared", "obstacle": "noUsableRows",
      "rejected": .integer(Int64(plan.rejected)), "next_steps": .array([.string(next)]),
    ])
  }

  func tell(_ proof: MigrationProof, of place: VerifyMigration.Place) throws {
    let next = next(after: proof, of: place)
    if arguments.wantsJSON {
      var object = json(of: place)
      for member in proof.json.members { object[member.key] = member.value }
      object["next_steps"] = .array([.string(next)])
      return try terminal.write(object)
    }
    if let failure = proof.failure {
      terminal.note("Apple did not answer \(proof.unanswered) times, first: \(failure.plain)")
    }
    try terminal.write("\(place.name): \(proof.text)\n  \(verdict(proof))\n  next: \(next)\n")
  }

  private func json(of place: VerifyMigration.Place) -> JSONObject {
    [
      "app": .string(place.app.bundleID), "environment": .string(place.environment.rawValue),
      "usable": .integer(Int64(place.usable)),
    ]
  }

  private func verdict(_ proof: MigrationProof) -> String {
    let bound =
      "at 95 % confidence at most \(RateBound.percent(proof.bound)) of the customers with a usable receipt would have different access"
    switch proof.verdict {
    case .proven: return "proven: \(bound)"
    case .affected: return "not proven: \(bound)"
    case .wrongSecret: return "Apple refuses the registered shared secret (21004): nothing was compared"
    case .incomplete, .tooFew: break
    }
    if proof.unanswered > 0 {
      return "not proven: Apple did not answer \(proof.unanswered) of \(proof.asked) calls; what was compared counts"
    }
    if proof.unproven > 0 {
      return """
        not proven: \(proof.unproven) receipts are not proven to this command. It needs each --trust-root that the job's \
        process had
        """
    }
    if proof.asked == 0 { return "not proven: no usable row is a receipt that can be sent to Apple" }
    return proof.verdict == .tooFew
      ? "not proven, since few customers were compared: \(bound)"
      : "not proven: too many customers have no known history, or were not compared"
  }

  private func next(after proof: MigrationProof, of place: VerifyMigration.Place) -> String {
    let (app, environment) = (place.app.bundleID, place.environment.rawValue)
    let comparisons = "switchyard compare list --app \(app) --environment \(environment)"
    switch proof.verdict {
    case .proven: return "switchyard rollout advance \(app) --environment \(environment)"
    case .affected: return "\(comparisons) --impact"
    case .wrongSecret: return VerifyMigration.Obstacle.noSharedSecret.next(app, place.environment)
    case .incomplete, .tooFew: break
    }
    if proof.unanswered > 0 { return again(place) }
    if proof.unproven > 0 { return again(place) + " --trust-root FILE" }
    if !job.state.isFinal { return "switchyard migrate watch \(job.id)" }
    if proof.verdict == .incomplete, proof.incomplete > 0 { return "\(comparisons) --cause incomplete" }
    return place.isInShadow
      ? comparisons : "switchyard rollout set \(app) shadow --environment \(environment) --reason TEXT"
  }

  /// This command about one place, with the roots and the App Store that it was given.
  private func again(_ place: VerifyMigration.Place) -> String {
    "switchyard migrate verify \(job.id) --app \(place.app.bundleID) --environment \(place.environment.rawValue)"
      + TrustOptions.given(arguments) + (arguments.value("base-url").map { " --base-url \($0)" } ?? "")
  }
}

extension VerifyMigration.Place {
  var name: String { "\(app.bundleID) \(environment.rawValue)" }
}
