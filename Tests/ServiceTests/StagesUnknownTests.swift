/// What a call is answered where its app may have been taken back without the service's knowing.
@Suite struct `Stages that could not be looked at lately` {
  @Test(arguments: ["shadow", "ramp", "live", "complete"])
  func `leave a call to Apple, but for complete`(stage: String) async throws {
    try await asked(in: stage, { $0.answering.stagesTrusted = .zero }) { service, buyer, _ in
      let answer = try await service.ask(AnsweringService.request(try service.receipt(of: buyer)))
      #expect(answer.code == 0 && (answer.source == "apple") == (stage != "complete"), "\(answer)")
      // It would be Apple's answer in `shadow` anyway.
      let isSaid = service.log.records.contains {
        $0.metadata["error"] == "the stages could not be read in time, so Switchyard did not answer"
      }
      #expect(isSaid == ["ramp", "live"].contains(stage), "\(service.log.records.filter { $0.level >= .warning })")
    }
  }

  @Test func `are looked at again when Apple does not answer`() async throws {
    // Long enough for the service to learn the stage.
    try await asked(in: "live", { $0.verifyReceipt.deadlineBesideOurs = .seconds(20) }) { service, buyer, other in
      try await service.control("faults", ["fault": "serverError", "on": "verifyReceipt", "times": 1])
      let unchanged = try await service.ask(AnsweringService.request(try service.receipt(of: other)))
      #expect(unchanged.code == 0 && unchanged.source == "lookup")
      try await service.control(
        "faults", ["fault": "stalled", "on": "verifyReceipt", "value": 600_000, "times": .null])
      let request = AnsweringService.request(try service.receipt(of: buyer))
      async let answer = service.ask(request)
      #expect(try await eventually { try await service.matchedCalls().last == 1 })
      try await service.execute("UPDATE flags SET stage = 'shadow', epoch = epoch + 1 WHERE environment = 2")
      let taken = try await answer
      #expect(taken.code == 21_005 && taken.source == nil, "\(taken)")
    }
  }

  @Test func `are looked at again when our answer is composed`() async throws {
    // Long enough for the service to learn the stage.
    try await asked(in: "complete", { $0.answering.lookUpWithin = .seconds(20) }) { service, buyer, other in
      try await service.control("faults", ["fault": "stalled", "on": "api", "value": 600_000, "times": .null])
      let request = AnsweringService.request(try service.receipt(of: buyer))
      async let answer = service.ask(request)
      #expect(try await eventually { try await service.matchedCalls().last ?? 0 > 0 })
      try await service.execute("UPDATE flags SET stage = 'shadow', epoch = epoch + 1 WHERE environment = 2")
      let question = AnsweringService.request(try service.receipt(of: other))
      #expect(try await eventually { try await service.ask(question).source == "apple" })
      let taken = try await answer
      #expect(taken.code == 0 && taken.source == "apple", "\(taken)")
    }
  }
}

@Suite struct `A database that answers nothing` {
  @Test func `leaves a call that it was to answer to Apple, and answers the next one when it is back`() async throws {
    try await asked(in: "live", { $0.answering.silence = .milliseconds(300) }) { service, buyer, other in
      let frozen = try await Connection.open(service.database)
      try await frozen.read { session throws(DatabaseError) in
        _ = try session.execute("LOCK TABLES flags WRITE, purchases WRITE, renewals WRITE, inbox WRITE")
      }
      let answer = try await service.ask(AnsweringService.request(try service.receipt(of: buyer)))
      #expect([answer.source, "\(answer.code ?? -1)"] == ["apple", "0"])
      await frozen.close()
      let request = AnsweringService.request(try service.receipt(of: other))
      #expect(try await eventually { try await service.ask(request).source == "ledger" })
    }
  }
}

/// A service that keeps no answer, and two of the customers whose receipts it can be asked about.
private func asked(
  in stage: String, _ change: (inout Application.Settings) -> Void,
  _ body: @Sendable (AnsweringService, CustomerID, CustomerID) async throws -> Void
) async throws {
  let world = AnsweredWorld.world()
  let buyers = AnsweredWorld.buyers(world)
  let (buyer, other) = (try #require(buyers.first), try #require(buyers.last))
  try await AnsweringService.with(
    world, stage: stage,
    { settings in
      settings.answersKept = .milliseconds(0)
      change(&settings)
    }
  ) { service in try await body(service, buyer, other) }
}
