/// One app on its way from `record` to `complete`.
extension PlannedMover {
  private static let environment = ["--environment", "Production"]

  /// Does what the runbook has done once before the first step.
  func begin(_ app: String, _ site: SwitchedSite) async throws {
    try await site.run(
      ["rollout", "guard", app, "--min-customers", "20", "--reason", "a small app"] + Self.environment)
    let world = site.apple.world
    for customer in world.customers(of: app) {
      guard let tester = world.state(of: customer).subscriptions.first?.originalTransactionID else { continue }
      try await site.run(["rollout", "cohort", app, "--add", tester, "--reason", "tester"] + Self.environment)
      return
    }
  }

  /// Takes the next step if it is proven; else does what is asked for, and tries again.
  mutating func goOn(_ app: String, _ site: SwitchedSite) async throws {
    var (done, repeats): (Set<String>, Int) = ([], 0)
    // Whatever is proven, nobody may have been affected.
    _ = try await missing(app, site)
    while true {
      let (hasMoved, isRefused) = try await takesStep(app, site)
      if hasMoved { return }
      let missing = try await missing(app, site)
      let isClockWrong = missing.contains { $0.name == "clock" }
      if isClockWrong || missing.isEmpty {
        guard isRefused || isClockWrong else { return }
        if !isClockWrong, try await goesOnByHand(app, site) { return }
        // A machine with much to do lets the clocks differ for a moment.
        repeats += 1
        if repeats <= 3 { continue }
        return faults.append("\(app): refused again and again, where no more is missing than \(missing)")
      }
      var hasHelped = false
      for (name, object) in missing where done.insert(name).inserted {
        if try await help(name, object, app, site) { hasHelped = true }
      }
      guard hasHelped else { return }
    }
  }

  /// What may be the last change of a stage, in the audit.
  private static let changes: Set<String> = ["rollout.set", "rollout.back", "rollout.kill", "rollout.guard"]

  /// Where the guard, and nobody else, took the app back, somebody takes the next step by hand, and `auto` goes on.
  ///
  /// An impact is complained of.
  private mutating func goesOnByHand(_ app: String, _ site: SwitchedSite) async throws -> Bool {
    let history = try await site.run(["rollout", "history", app, "--limit", "100", "--json"]).objects
    let last = history.first { change in
      Self.changes.contains(change["action"]?.string ?? "")
        && change["reason"]?.string?.hasPrefix("Production:") == true
    }
    guard last?["action"] == "rollout.guard" else { return false }
    let reason = last?["reason"]?.string ?? ""
    if reason.contains("customers would have had other access") { faults.append("\(app): the guard: \(reason)") }
    tell("\(app) goes on by hand: \(reason)", site)
    _ = try await advance(app, site)
    return true
  }

  /// Whether a step was taken, and whether somebody has to look first.
  private mutating func takesStep(_ app: String, _ site: SwitchedSite) async throws -> (Bool, Bool) {
    if stages[app] == "live" {
      // "You have seen a usual week without complaints." Whoever signs it off takes the last step.
      guard site.time.clock.now() - (since[app] ?? Timestamp(0)) >= .days(7) else { return (true, false) }
      return try await advance(app, site)
    }
    // After two weeks it names what is missing, and is begun again like after anything missing.
    let outcome = try await site.run(
      [
        "rollout", "advance", app, "--auto", "--once", "--max-impact", Self.impactBound, "--json", "--reason",
        "as planned",
      ]
        + Self.environment,
      allowing: [0, 4])
    let told = try outcome.objects.first
    if told?["event"] == "advanced" { tell("\(app): \(told?["text"]?.string ?? "")", site) }
    return (told?["event"] == "advanced", outcome.status == 4)
  }

  private mutating func advance(_ app: String, _ site: SwitchedSite) async throws -> (Bool, Bool) {
    let outcome = try await site.run(
      ["rollout", "advance", app, "--max-impact", Self.impactBound, "--json"] + Self.environment, allowing: [0, 4])
    let told = try outcome.objects.first
    if told?["forced"] != false { faults.append("\(app): \(outcome)") }
    return (told?["done"] == true, outcome.status == 4)
  }

  /// What the next step lacks, by name; with what the command found.
  ///
  /// Complains of customers with an impact, once in each stage.
  private mutating func missing(
    _ app: String, _ site: SwitchedSite
  ) async throws -> [(name: String, found: JSONObject)] {
    let asked = try await site.run(
      ["rollout", "advance", app, "--max-impact", Self.impactBound, "--dry-run", "--json"] + Self.environment,
      allowing: [0, 4])
    guard let object = try asked.objects.first else { return [] }
    let count = object["evidence"]?.object?["affected"]?.integer
    if count != 0, affected.insert("\(app) \(stages[app] ?? "")").inserted {
      faults.append("\(app): affected in \(stages[app] ?? ""): \(count.map { "\($0)" } ?? "\(asked)")")
    }
    return (object["missing"]?.array ?? []).compactMap(\.object).compactMap { item in
      item["evidence"]?.string.map { (name: $0, found: object) }
    }
  }

  /// Does what gets a missing item; false where it comes by itself.
  private mutating func help(
    _ name: String, _ found: JSONObject, _ app: String, _ site: SwitchedSite
  ) async throws -> Bool {
    switch name {
    case "completeness":
      // 1 and 7: Apple failed. 3: something is asked about later.
      try await site.run(["reconcile", app] + Self.environment + site.trust, allowing: [0, 1, 3, 7])
      return true
    case "ids":
      let counts = found["evidence"]?.object
      if counts?["cancelledMigrationIds"] != 0 { faults.append("\(app): cancelledMigrationIds is missing") }
      if counts?["failedSeeds"] != 0 {
        tell("\(app): ids that failed are asked about again", site)
        try await site.run(["seeds", "retry", app])
      }
      guard counts?["unknownIds"] != 0 else { return false }
      tell("\(app): ids that Apple does not know are accepted", site)
      try await site.run(
        ["rollout", "advance", app, "--accept-unknown-ids", "--max-impact", Self.impactBound]
          + ["--reason", "Apple does not know them"] + Self.environment, allowing: [0, 4])
      return true
    case "guard" where found["evidence"]?.object?["guardBreach"] == .null: return false
    case "impact", "guard":
      let list = try await site.run(["compare", "list", "--app", app, "--impact"] + Self.environment)
      faults.append("\(app): \(name): \(list.output.prefix(2_000))")
      return false
    case "credentials":
      faults.append("\(app): \(name) is missing")
      return false
    default: return false
    }
  }

  /// Reads the report for whoever signs an app off, and complains of what it should not say.
  mutating func report(_ app: String, _ site: SwitchedSite) async throws {
    let words = ["rollout", "report", app] + Self.environment
    guard let report = try await site.run(words + ["--json"]).objects.first else {
      return faults.append("\(app) has no report")
    }
    let changes = (report["changes"]?.array ?? []).compactMap { $0.object?["reason"]?.string }
    let isSound =
      report["stage"] == "complete" && report["affected"] == 0 && (report["customers"]?.integer ?? 0) >= 29
      && (report["comparisons"]?.integer ?? 0) >= 29 && changes.contains { $0.contains("live to complete") }
      && !changes.contains { $0.contains("forced") }
    if !isSound { faults.append("\(app): \(String(decoding: report.encoded(), as: UTF8.self))") }
    let page = try await site.run(words).output
    if !page.contains("| customers whose access would have differed | 0 |") { faults.append("\(app): \(page)") }
    let figures = ["customers", "comparisons", "differing", "affected", "unknown"].map {
      "\($0) \(report[$0]?.integer ?? -1)"
    }
    tell("\(app) is signed off: \(figures.joined(separator: ", "))", site)
  }
}
