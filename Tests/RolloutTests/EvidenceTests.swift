@Suite struct `The evidence for a stage` {
  private func sound(_ change: (inout Evidence) -> Void = { _ in }) -> Evidence {
    var evidence = Evidence()
    (evidence.customers, evidence.measuredDays) = (1_000, 2)
    (evidence.isDrilled, evidence.hasAPIKey, evidence.hasSharedSecret) = (true, true, true)
    change(&evidence)
    return evidence
  }

  @Test func `is enough when nothing is missing`() {
    #expect(sound().missing(for: .init()) == [])
    #expect(Evidence.Demand().customers == 598)
  }

  @Test(arguments: [
    ("openSeeds", "seeds"), ("unknownIDs", "unknownIds"), ("incompleteDays", "completeness"), ("affected", "impact"),
    ("customers", "comparisons"), ("measuredDays", "completeness"), ("isDrilled", "drill"), ("hasAPIKey", "apiKey"),
    ("hasSharedSecret", "sharedSecret"), ("isClockRight", "clock"),
  ])
  func `lacks what was not found, and says which command gets it`(what: String, name: String) throws {
    let evidence = sound { evidence in
      switch what {
      case "openSeeds": evidence.openSeeds = 1
      case "unknownIDs": evidence.unknownIDs = 1
      case "incompleteDays": evidence.incompleteDays = 1
      case "affected": evidence.affected = 4
      case "customers": evidence.customers = 597
      case "measuredDays": evidence.measuredDays = 1
      case "isDrilled": evidence.isDrilled = false
      case "hasAPIKey": evidence.hasAPIKey = false
      case "hasSharedSecret": evidence.hasSharedSecret = false
      default: evidence.isClockRight = false
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

  @Test func `names the whole command that registers a key`() {
    let command = MissingEvidence.apiKey.next("com.example.app", "Sandbox")
    #expect(["--key-file", "--key-id", "--issuer"].allSatisfy { command.contains($0) }, "\(command)")
  }

  @Test(arguments: [(0, 0, true), (99, 0, true), (100, 0, false), (100, 2, true)])
  func `needs customers compared at this percentage, as the guard asks`(customers: Int, affected: Int, isMissing: Bool)
  {
    let evidence = sound { $0.step = StepEvidence(rule: GuardRule(), customers: customers, affected: affected) }
    let missing = evidence.missing(for: .init())
    #expect(missing.map(\.name) == (isMissing ? ["step"] : []))
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
    // The impact at this percentage is named once, errors and latency beside it.
    let both = sound { evidence in
      evidence.step = StepEvidence(rule: GuardRule(), customers: 100, affected: 2)
      evidence.breach = breach
    }.missing(for: .init())
    #expect(both.map(\.name) == (breach.cause == "impact" ? ["step"] : ["step", "guard"]))
  }

  @Test func `goes on step by step`() {
    var (step, names): (RolloutStep?, [String]) = (RolloutStep.all[0], [])
    while let at = step {
      names.append(Move.name(at.stage, at.share))
      step = RolloutStep.next(after: at.stage, at: at.share)
    }
    #expect(
      names == [
        "legacy", "record", "shadow", "ramp 1 %", "ramp 5 %", "ramp 25 %", "ramp 50 %", "ramp 100 %", "live",
        "complete",
      ])
    let odd = RolloutStep.next(after: .ramp, at: RampShare(hundredths: 700))
    #expect(odd?.share?.hundredths == 2_500)
    #expect(RolloutStep.all.filter(\.needsEvidence).count == 7)
  }
}
