@Suite struct `The evidence for a stage` {
  private func sound(_ change: (inout RolloutEvidence) -> Void = { _ in }) -> RolloutEvidence {
    var evidence = RolloutEvidence()
    (evidence.customers, evidence.measuredDays) = (1_000, 2)
    (evidence.hasAPIKey, evidence.hasSharedSecret) = (true, true)
    change(&evidence)
    return evidence
  }

  @Test func `is enough when nothing is missing`() {
    #expect(sound().missing(for: .init()) == [])
    #expect(RolloutEvidence.Requirements().customers == 598)
  }

  @Test(arguments: [
    ("waiting", "ids"), ("failed", "ids"), ("migrating", "ids"), ("unreadParts", "ids"), ("cancelled", "ids"),
    ("unknown", "ids"), ("incompleteDays", "completeness"), ("affected", "impact"), ("customers", "comparisons"),
    ("measuredDays", "completeness"), ("hasAPIKey", "credentials"), ("hasSharedSecret", "credentials"),
  ])
  func `lacks what was not found, and says which command gets it`(what: String, name: String) throws {
    let evidence = sound { evidence in
      switch what {
      case "waiting": evidence.ids.waiting = 1
      case "failed": evidence.ids.failed = 1
      case "migrating": evidence.ids.migrating = 1
      case "unreadParts": evidence.ids.unreadParts = 1
      case "cancelled": evidence.ids.cancelled = 1
      case "unknown": evidence.ids.unknown = 1
      case "incompleteDays": evidence.incompleteDays = 1
      case "affected": evidence.affected = 4
      case "customers": evidence.customers = 597
      case "measuredDays": evidence.measuredDays = 1
      case "hasAPIKey": evidence.hasAPIKey = false
      default: evidence.hasSharedSecret = false
      }
    }
    let missing = evidence.missing(for: .init())
    #expect(missing.map(\.name) == [name])
    #expect(missing.first?.next("com.example.app", "Sandbox").hasPrefix("switchyard ") == true)
  }

  @Test(arguments: [(Stage.ramp, 1_000, false), (.live, 52, false), (.live, 53, true), (.complete, 53, true)])
  func `for live and complete has few customers without a known history`(stage: Stage, count: Int, isMissing: Bool) {
    let missing = sound { $0.incomplete = count }.missing(for: .init(), before: RolloutStep(stage))
    #expect(missing.map(\.name) == (isMissing ? ["incomplete"] : []))
  }

  @Test func `names the whole command that registers a key, then the one that registers a secret`() {
    let both = MissingEvidence.credentials(hasAPIKey: false, hasSharedSecret: false)
    let command = both.next("com.example.app", "Sandbox")
    #expect(["--key-file", "--key-id", "--issuer"].allSatisfy { command.contains($0) }, "\(command)")
    #expect(both.text.contains("no key"), "\(both.text)")
    #expect(both.text.contains("no shared secret"), "\(both.text)")
    let secret = MissingEvidence.credentials(hasAPIKey: true, hasSharedSecret: false)
    #expect(secret.next("com.example.app", "Sandbox") == "switchyard app secret com.example.app")
  }

  @Test func `names first the command for ids that do not pass with time, and all of them in the text`() {
    var ids = OpenIDs()
    func next() -> String { MissingEvidence.ids(ids).next("com.example.app", "Sandbox") }
    ids.migrating = 5
    #expect(next() == "switchyard migrate status")
    ids.waiting = 4
    #expect(next() == "switchyard seeds status com.example.app --ids --state waiting --state failed")
    #expect(MissingEvidence.ids(ids).comesByItself)
    ids.unknown = 3
    #expect(next().contains("rollout advance com.example.app --environment Sandbox --accept-unknown-ids"))
    (ids.cancelled, ids.cancelledMigration) = (2, 7)
    #expect(next() == "switchyard migrate report 7")
    ids.failed = 1
    #expect(next() == "switchyard seeds status com.example.app --ids --state waiting --state failed")
    let missing = MissingEvidence.ids(ids)
    for text in ["of 4 ids", "of 1 it failed", "5 ids of bulk", "2 ids of cancelled", "know 3 ids"] {
      #expect(missing.text.contains(text), "\(missing.text)")
    }
    #expect(!missing.comesByItself)
  }

  @Test(arguments: [(0, 0, true), (99, 0, true), (100, 0, false), (100, 2, true)])
  func `needs customers compared at this percentage, as the guard asks`(customers: Int, affected: Int, isMissing: Bool)
  {
    let evidence = sound { $0.step = GuardObservation(rule: GuardRule(), customers: customers, affected: affected) }
    let missing = evidence.missing(for: .init())
    #expect(missing.map(\.name) == (isMissing ? ["guard"] : []))
    #expect(missing.allSatisfy { $0.next("com.example.app", "Sandbox").hasPrefix("switchyard ") })
  }

  @Test(arguments: [
    GuardBreach.errors(20, calls: 400, appleErrors: 0, appleCalls: 300),
    .latency(milliseconds: 700, appleMilliseconds: 200), .impact(affected: 2, customers: 100),
  ])
  func `lacks a guard that finds nothing`(breach: GuardBreach) {
    let missing = sound { $0.breach = breach }.missing(for: .init())
    #expect(missing.map(\.name) == ["guard"])
    #expect(missing.first?.text.contains(breach.text) == true && missing.first?.comesByItself == false)
    let next = missing.first?.next("com.example.app", "Sandbox")
    #expect(next == breach.next("com.example.app", "Sandbox").first)
    // The impact at this percentage is named once, errors and latency after it.
    let both = sound { evidence in
      evidence.step = GuardObservation(rule: GuardRule(), customers: 100, affected: 2)
      evidence.breach = breach
    }.missing(for: .init())
    #expect(both.map(\.name) == ["guard"])
    #expect(both.first?.comesByItself == false)
    #expect(both.first?.text.contains("since this percentage was set 100 customers") == true)
    #expect(both.first?.text.contains(breach.text) == (breach.cause != "impact"))
  }

  @Test func `goes on step by step`() {
    var (step, names): (RolloutStep?, [String]) = (RolloutStep.all[0], [])
    while let at = step {
      names.append(StageTransition.name(at.stage, at.share))
      step = RolloutStep.next(after: at.stage, at: at.share)
    }
    #expect(
      names == [
        "legacy", "record", "shadow", "ramp 1 %", "ramp 5 %", "ramp 25 %", "ramp 50 %", "ramp 100 %", "live",
        "complete",
      ])
    let odd = RolloutStep.next(after: .ramp, at: RampPercentage(hundredths: 700))
    #expect(odd?.share?.hundredths == 2_500)
    let limit = RolloutStep(.ramp, RampPercentage(hundredths: 1_000))
    let limited = [100, 500, 1_000, 5_000].map { share in
      RolloutStep.next(after: .ramp, at: RampPercentage(hundredths: share), upTo: limit)?.share?.hundredths
    }
    #expect(limited == [500, 1_000, 2_500, 10_000])
    #expect(RolloutStep.all.filter(\.needsEvidence).count == 7)
  }
}
