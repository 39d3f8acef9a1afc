@Suite struct `A route` {
  @Test func `leads to where the id is known, else to production and the sandbox, a hint first`() {
    #expect(EnvironmentSearch().attempts == [.production, .sandbox])
    #expect(EnvironmentSearch(hint: .sandbox).attempts == [.sandbox, .production])
    #expect(EnvironmentSearch(receiptType: .sandbox, hint: .production).attempts == [.sandbox])
    #expect(EnvironmentSearch(known: .production, receiptType: .sandbox).attempts == [.production])
    #expect(EnvironmentSearch(hint: .production, unknownIn: .production).attempts == [.sandbox])
  }

  private func run(
    _ answers: [HTTPResponse], _ route: EnvironmentSearch = EnvironmentSearch(),
    _ check: @Sendable (Result<APIResponse<TransactionInfoResponse>, APIError>, [String]) -> Void
  ) async throws {
    try await withAppStore(answers) { scripted in
      let outcome: Result<APIResponse<TransactionInfoResponse>, APIError>
      do throws(APIError) {
        outcome = .success(
          try await scripted.client.send(.transactionInfo("1"), as: scripted.credentials, along: route))
      } catch { outcome = .failure(error) }
      check(outcome, scripted.apple.asked.map(\.target))
    }
  }

  private static let found = HTTPResponse.json(["signedTransactionInfo": "x"])

  @Test func `goes on to the sandbox when production knows no such id, or no such app`() async throws {
    for first in [HTTPResponse.error(4_040_010), .text(401, "")] {
      try await run([first, Self.found]) { outcome, targets in
        #expect((try? outcome.get())?.environment == .sandbox)
        #expect(targets == ["/inApps/v1/transactions/1", "/sandbox/inApps/v1/transactions/1"])
      }
    }
  }

  @Test func `ends where an answer was given, or a refusal that is of the call`() async throws {
    try await run([Self.found]) { outcome, targets in
      #expect((try? outcome.get())?.environment == .production)
      #expect(targets.count == 1)
    }
    try await run([.error(4_000_006)]) { outcome, targets in
      #expect(targets.count == 1)
      guard case .failure(let failure) = outcome else { return #expect(Bool(false)) }
      #expect(failure.errorCode == 4_000_006)
    }
    try await run([.error(4_040_010)], EnvironmentSearch(known: .sandbox)) { _, targets in
      #expect(targets == ["/sandbox/inApps/v1/transactions/1"])
    }
    try await run([.text(401, "")], EnvironmentSearch(hint: .sandbox)) { _, targets in #expect(targets.count == 1) }
  }

  @Test func `tells an id that is nowhere from a key that is not accepted`() async throws {
    try await run([.error(4_040_010)]) { outcome, _ in
      guard case .failure(let failure) = outcome else { return #expect(Bool(false)) }
      #expect(failure.errorCode == 4_040_010)
    }
    for answers in [[.text(401, ""), .text(401, "")], [.text(401, ""), .error(4_040_010)]] as [[HTTPResponse]] {
      try await run(answers) { outcome, targets in
        #expect(targets.count == 2)
        guard case .failure(let failure) = outcome else { return #expect(Bool(false)) }
        #expect(failure.code == .unauthorized)
      }
    }
  }

  @Test func `remembers where the id is unknown when the other environment gives no answer`() async throws {
    try await run([.error(4_040_010), .text(403, "")]) { outcome, targets in
      guard case .failure(let failure) = outcome else { return #expect(Bool(false)) }
      #expect(failure.environment == .sandbox && failure.unknownIn == .production)
      #expect(targets.count == 2)
    }
    try await run([.text(403, "")]) { outcome, _ in
      guard case .failure(let failure) = outcome else { return #expect(Bool(false)) }
      #expect(failure.unknownIn == nil)
    }
  }

  @Test func `does not send on whoever has asked both`() async throws {
    func nextStep(_ route: EnvironmentSearch) async throws -> String? {
      let step = Mutex<String?>(nil)
      try await run([.error(4_040_010)], route) { outcome, _ in
        if case .failure(let failure) = outcome { step.withLock { $0 = failure.nextStep } }
      }
      return step.withLock { $0 }
    }
    #expect(try await nextStep(EnvironmentSearch()) == "both environments were asked: check id and bundle id")
    #expect(try await nextStep(EnvironmentSearch(known: .production)) == "try the other environment")
  }

  @Test func `is not tried with what changes something`() async throws {
    try await withAppStore([]) { scripted in
      let failure = await failure {
        try await scripted.client.send(.finish("1"), as: scripted.credentials, along: EnvironmentSearch())
      }
      #expect(failure?.code == .invalidCall)
      #expect(scripted.apple.asked.isEmpty)
    }
  }
}

@Suite struct `verifyReceipt` {
  private func status(_ status: Int64, _ members: (String, JSONValue)...) -> HTTPResponse {
    .json(JSONObject([("status", .integer(status))] + members))
  }

  private func ask(
    _ answers: [HTTPResponse], _ route: EnvironmentSearch = EnvironmentSearch(),
    _ check: @Sendable (ReceiptAnswer?, APIError?, [ScriptedAppStore.Asked]) -> Void
  ) async throws {
    try await withAppStore(answers) { scripted in
      do throws(APIError) {
        let answer = try await scripted.client.verifyReceipt(
          ReceiptRequest(receiptData: "cmVjZWlwdA==", password: "secret", excludeOldTransactions: true),
          app: "a", along: route)
        check(answer, nil, scripted.apple.asked)
      } catch { check(nil, error, scripted.apple.asked) }
    }
  }

  @Test func `sends the receipt as Apple documents it, and without a token`() async throws {
    try await ask([status(0)]) { answer, _, asked in
      #expect(answer?.status == 0)
      #expect(answer?.environment == .production)
      #expect(asked.map { "\($0.method) \($0.target)" } == ["POST /verifyReceipt"])
      #expect(
        asked.first?.json == [
          "receipt-data": "cmVjZWlwdA==", "password": "secret", "exclude-old-transactions": true,
        ])
      #expect(asked.first?.authorization == "")
    }
  }

  @Test func `follows 21007 to the sandbox and 21008 back, once`() async throws {
    try await ask([status(21_007), status(0)]) { answer, _, asked in
      #expect(answer?.environment == .sandbox)
      #expect(asked.map(\.target) == ["/verifyReceipt", "/sandbox/verifyReceipt"])
    }
    try await ask([status(21_008), status(0)], EnvironmentSearch(receiptType: .sandbox)) { answer, _, asked in
      #expect(answer?.environment == .production)
      #expect(asked.map(\.target) == ["/sandbox/verifyReceipt", "/verifyReceipt"])
    }
    try await ask([status(21_007), status(21_008)]) { answer, _, asked in
      #expect(answer?.status == 21_008)
      #expect(asked.count == 2)
    }
  }

  @Test(arguments: [21_005, 21_009, 21_100, 21_199] as [Int64])
  func `asks again when Apple says that it may pass`(code: Int64) async throws {
    try await ask([status(code), status(0)]) { answer, _, asked in
      #expect(answer?.status == 0)
      #expect(asked.count == 2)
    }
    try await ask([status(code, ("is_retryable", false))]) { answer, _, asked in
      #expect(answer?.status == code)
      #expect(asked.count == 1)
    }
    try await ask([status(code)]) { answer, _, asked in
      #expect(answer?.status == code)
      #expect(asked.count == 4)
    }
  }

  @Test(arguments: [JSONValue.bool(true), 1, "1", "true"])
  func `believes is_retryable in each of its forms`(value: JSONValue) async throws {
    for name in ["is_retryable", "is-retryable"] {
      try await ask([status(21_002, (name, value)), status(0)]) { answer, _, asked in
        #expect(answer?.status == 0)
        #expect(asked.count == 2)
      }
    }
  }

  @Test(arguments: [21_000, 21_001, 21_002, 21_003, 21_004, 21_006, 21_010, 21_200] as [Int64])
  func `gives every other status as the answer it is`(code: Int64) async throws {
    try await ask([status(code)]) { answer, _, asked in
      #expect(answer?.status == code)
      #expect((answer?.row == nil) == (code == 21_200))
      #expect(asked.count == 1)
    }
  }

  @Test func `fails with the reason when there is no answer`() async throws {
    try await ask([.text(503, ""), .text(503, ""), status(0)]) { answer, _, _ in #expect(answer?.status == 0) }
    try await ask([.text(200, "<html>")]) { _, failure, asked in
      #expect(failure?.code == .malformedAnswer)
      #expect(asked.count == 4)
    }
  }
}
