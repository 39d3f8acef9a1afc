@Suite struct `A group commit` {
  @Test func `commits together what arrives together, in its order`() async throws {
    let press = Press(isOpen: false)
    try await press.running(limits: limits { ($0.lanes, $0.batch) = (1, 4) }) { commit in
      let first = Task<AppendResult, any Error> { try await commit.append(entry("a")) }
      #expect(await eventually { press.batches == [["a"]] })
      var rest: [Task<AppendResult, any Error>] = []
      for name in ["b", "c", "d", "e", "f"] {
        rest.append(Task { try await commit.append(entry(name)) })
        #expect(await eventually { commit.depth == rest.count })
      }
      press.open()
      await expectStored([first] + rest)
      #expect(press.batches == [["a"], ["b", "c", "d", "e"], ["f"]])
      #expect(commit.depth == 0 && commit.bytes == 0)
    }
  }

  /// What anybody with an old copy of an app can send must not keep Apple's messages waiting.
  @Test(
    arguments: [CommitClass.notification, .claimedFromApple, .unprovenFromApple],
    [CommitClass.claimed, .unproven, .relayed, .answer])
  func `does not let one class wait behind another`(apple: CommitClass, other: CommitClass) async throws {
    let press = Press(isOpen: false, letsThrough: ["apple"])
    try await press.running(limits: limits { ($0.batch, $0.waiting) = (1, 3) }) { commit in
      var tasks: [Task<AppendResult, any Error>] = []
      for name in ["a", "b", "c", "d"] {
        tasks.append(Task { try await commit.append(entry(name, other)) })
        #expect(await eventually { commit.bytes == tasks.count })
      }
      await #expect(throws: GroupCommit.Failure.overloaded) { try await commit.append(entry("e", other)) }
      await expectStored([Task { try await commit.append(entry("apple", apple)) }])
      #expect(press.batches.count == 2)
      press.open()
      await expectStored(tasks)
    }
  }

  @Test func `takes no more into a batch than it may weigh, but one entry of any weight`() async throws {
    let press = Press(isOpen: false)
    try await press.running(limits: limits { $0.batchWeight = 5 }) { commit in
      var tasks: [Task<AppendResult, any Error>] = []
      for (number, weight) in [1, 2, 3, 40, 1, 1].enumerated() {
        tasks.append(Task { try await commit.append(entry("\(number)", .claimed, weight: weight)) })
        #expect(await eventually { commit.bytes == tasks.count && press.batches.count == 1 })
      }
      press.open()
      await expectStored(tasks)
      #expect(press.batches == [["0"], ["1", "2"], ["3"], ["4", "5"]])
    }
  }

  @Test func `has as many batches under way as it has lanes`() async throws {
    let press = Press(isOpen: false)
    try await press.running(limits: limits { ($0.lanes, $0.batch) = (2, 1) }) { commit in
      let tasks = ["a", "b", "c"].map { name in Task<AppendResult, any Error> { try await commit.append(entry(name)) } }
      #expect(await eventually { press.batches.count == 2 && commit.depth == 1 })
      press.open()
      await expectStored(tasks)
      #expect(press.batches.count == 3)
    }
  }

  /// It may wait for a row that somebody else has locked; most of what comes after it does not need that row.
  @Test func `lets others pass a batch that is late, and no more than may`() async throws {
    let press = Press(isOpen: false, letsThrough: ["b", "c"])
    let limits = limits { ($0.batch, $0.spareLanes, $0.lateAfter) = (1, 1, .milliseconds(10)) }
    try await press.running(limits: limits) { commit in
      let late = Task<AppendResult, any Error> { try await commit.append(entry("a", .notification)) }
      #expect(await eventually { press.batches == [["a"]] })
      for name in ["b", "c"] {
        await expectStored([Task { try await commit.append(entry(name, .notification)) }])
      }
      let second = Task<AppendResult, any Error> { try await commit.append(entry("d", .notification)) }
      #expect(await eventually { press.batches.last == ["d"] })
      let third = Task<AppendResult, any Error> { try await commit.append(entry("e", .notification)) }
      #expect(await eventually { commit.depth == 1 })
      press.open()
      await expectStored([late, second, third])
      #expect(press.batches.last == ["e"] && commit.depth == 0)
    }
  }

  @Test func `stops while a batch is late, and writes what waits behind it`() async throws {
    let press = Press(isOpen: false)
    let commit = GroupCommit(
      limits: limits { ($0.batch, $0.spareLanes, $0.lateAfter) = (1, 1, .milliseconds(10)) }, write: press.write)
    let running = Task { await commit.run() }
    let tasks = ["a", "b", "c", "d"].map { name in
      Task<AppendResult, any Error> { try await commit.append(entry(name, .notification)) }
    }
    #expect(await eventually { press.batches.count == 2 && commit.depth == 2 })
    running.cancel()
    press.open()
    await expectStored(tasks)
    await running.value
    #expect(press.batches.joined().sorted() == ["a", "b", "c", "d"])
  }

  @Test func `knows who sent what Apple has not signed`() {
    let classes: [(CommitClass, CommitClass)] = [(.claimed, .claimedFromApple), (.unproven, .unprovenFromApple)]
    for (commitClass, fromApple) in classes {
      var sent = entry("a", commitClass)
      #expect(sent.commitClass == commitClass)
      sent.isFromApple = true
      #expect(sent.commitClass == fromApple)
    }
  }

  @Test(arguments: [
    (limits { ($0.lanes, $0.waiting, $0.waitingBytes) = (2, 2, 1_000) }, "x"),
    (limits { ($0.lanes, $0.waiting, $0.waitingBytes) = (2, 100, 6) }, "four"),
  ])
  func `refuses what is too much, by number and by bytes`(limits: GroupCommit.Limits, last: String) async throws {
    let press = Press(isOpen: false)
    try await press.running(limits: limits) { commit in
      // Two lanes are busy with one byte each; two bytes more wait.
      var tasks: [Task<AppendResult, any Error>] = []
      for (name, waiting) in [("a", 0), ("b", 0), ("c", 1), ("d", 2)] {
        tasks.append(Task { try await commit.append(entry(name)) })
        #expect(await eventually { commit.bytes == tasks.count && commit.depth == waiting })
      }
      await #expect(throws: GroupCommit.Failure.overloaded) { try await commit.append(entry(last)) }
      #expect(commit.bytes == 4)
      press.open()
      await expectStored(tasks)
      await expectStored([Task { try await commit.append(entry(last)) }])
      #expect(commit.bytes == 0)
    }
  }

  @Test(arguments: [
    DatabaseError.Code.duplicateKey, .tooLarge, .column, .deadlock, .lockWaitTimeout, .other(1366),
  ])
  func `lets a row that spoils its batch fail alone`(code: DatabaseError.Code) async throws {
    let press = Press(isOpen: false, poison: ["c": code])
    try await press.running(limits: limits { $0.lanes = 1 }) { commit in
      let results = try await outcomes(of: ["a", "b", "c", "d"], in: commit, press)
      #expect(
        results == [
          .success(.stored), .success(.stored), .failure(.database(DatabaseError(code, ""))), .success(.stored),
        ])
      #expect(press.batches == [["a"], ["b", "c", "d"], ["b"], ["c"], ["d"]])
    }
  }

  @Test(arguments: [
    DatabaseError.Code.timedOut, .connectionLost, .connectionRefused, .commitOutcomeUnknown, .closed,
    .nodeNotReady, .accessDenied, .misuse, .abandoned,
  ])
  func `does not try each row alone when it is the database that fails`(code: DatabaseError.Code) async throws {
    let press = Press(isOpen: false, poison: ["c": code])
    try await press.running(limits: limits { $0.lanes = 1 }) { commit in
      let results = try await outcomes(of: ["a", "b", "c", "d"], in: commit, press)
      let failure = Outcome.failure(.database(DatabaseError(code, "")))
      #expect(results == [.success(.stored), failure, failure, failure])
      #expect(press.batches == [["a"], ["b", "c", "d"]])
    }
  }

  @Test func `stops trying rows alone once the database fails`() async throws {
    let press = Press(isOpen: false, poison: ["d": .duplicateKey, "c": .timedOut], firstOfBatch: .duplicateKey)
    try await press.running(limits: limits { $0.lanes = 1 }) { commit in
      let results = try await outcomes(of: ["a", "b", "c", "d"], in: commit, press)
      let failure = Outcome.failure(.database(DatabaseError(.timedOut, "")))
      #expect(results == [.success(.stored), .success(.stored), failure, failure])
      #expect(press.batches == [["a"], ["b", "c", "d"], ["b"], ["c"]])
      #expect(commit.bytes == 0)
    }
  }

  @Test func `writes what it has accepted when it stops, and takes nothing more`() async throws {
    let press = Press(isOpen: false)
    let commit = GroupCommit(limits: limits { $0.lanes = 1 }, write: press.write)
    let running = Task { await commit.run() }
    let tasks = ["a", "b", "c"].map { name in Task<AppendResult, any Error> { try await commit.append(entry(name)) } }
    #expect(await eventually { press.batches.count == 1 && commit.bytes == 3 })
    running.cancel()
    await #expect(throws: GroupCommit.Failure.stopping) { try await commit.append(entry("late")) }
    press.open()
    await expectStored(tasks)
    await running.value
    #expect(press.batches.joined().sorted() == ["a", "b", "c"])
  }

  @Test func `forgets an entry whose caller has gone, unless its commit has begun`() async throws {
    let press = Press(isOpen: false)
    try await press.running(limits: limits { $0.lanes = 1 }) { commit in
      let begun = Task<AppendResult, any Error> { try await commit.append(entry("a")) }
      #expect(await eventually { press.batches == [["a"]] })
      let waiting = Task<AppendResult, any Error> { try await commit.append(entry("b")) }
      #expect(await eventually { commit.depth == 1 })
      waiting.cancel()
      begun.cancel()
      await #expect(throws: GroupCommit.Failure.overloaded) { try await waiting.value }
      #expect(commit.depth == 0 && commit.bytes == 1)
      press.open()
      await expectStored([begun])
      let gone = Task {
        unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
        return try await commit.append(entry("c"))
      }
      _ = try? await gone.value
      #expect(commit.depth == 0 && commit.bytes == 0)
    }
  }
}

private func expectStored(
  _ tasks: [Task<AppendResult, any Error>], sourceLocation: SourceLocation = #_sourceLocation
) async {
  for task in tasks {
    let appended = try? await task.value
    #expect(appended == .stored, sourceLocation: sourceLocation)
  }
}

private typealias Outcome = Result<AppendResult, GroupCommit.Failure>

/// What becomes of the entries when the first is committed alone and the others together.
private func outcomes(of names: [String], in commit: GroupCommit, _ press: Press) async throws -> [Outcome] {
  var tasks: [Task<Outcome, Never>] = []
  for name in names {
    tasks.append(
      Task {
        do throws(GroupCommit.Failure) { return .success(try await commit.append(entry(name))) } catch {
          return .failure(error)
        }
      })
    #expect(await eventually { commit.bytes == tasks.count && press.batches.count == 1 })
  }
  press.open()
  var outcomes: [Outcome] = []
  for task in tasks { outcomes.append(await task.value) }
  return outcomes
}

/// Stands in for the ledger: notes each batch as it begins, and holds all until it is opened.
private final class Press: Sendable {
  private struct State {
    var batches: [[String]] = []
    var isOpen: Bool
    var held: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>
  private let poison: [String: DatabaseError.Code]
  private let firstOfBatch: DatabaseError.Code?
  private let letsThrough: [String]

  /// `firstOfBatch` fails every batch of more than one, whatever is in it; a batch of `letsThrough` is never held.
  init(
    isOpen: Bool, poison: [String: DatabaseError.Code] = [:], firstOfBatch: DatabaseError.Code? = nil,
    letsThrough: [String] = []
  ) {
    self.letsThrough = letsThrough
    state = Mutex(State(isOpen: isOpen))
    self.poison = poison
    self.firstOfBatch = firstOfBatch
  }

  var batches: [[String]] { state.withLock { $0.batches } }

  func open() {
    let held = state.withLock { state in
      state.isOpen = true
      defer { state.held = [] }
      return state.held
    }
    for continuation in held { continuation.resume() }
  }

  func write(_ entries: [LedgerEntry]) async throws(DatabaseError) -> [AppendResult] {
    let names = entries.map { String(decoding: $0.message.body, as: UTF8.self) }
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        state.batches.append(names)
        if state.isOpen || names.allSatisfy(letsThrough.contains) { return true }
        state.held.append(continuation)
        return false
      }
      if isOpen { continuation.resume() }
    }
    if names.count > 1, let firstOfBatch { throw DatabaseError(firstOfBatch, "made up") }
    for name in names { if let code = poison[name] { throw DatabaseError(code, "made up") } }
    return names.map { _ in .stored }
  }

  /// Runs `body` beside a group commit that writes here; opens and stops it afterwards.
  func running(limits: GroupCommit.Limits, _ body: (GroupCommit) async throws -> Void) async throws {
    let commit = GroupCommit(limits: limits, write: write)
    let running = Task { await commit.run() }
    defer {
      open()
      running.cancel()
    }
    try await body(commit)
  }
}

private func limits(_ change: (inout GroupCommit.Limits) -> Void) -> GroupCommit.Limits {
  var limits = GroupCommit.Limits()
  limits.spareLanes = 0
  change(&limits)
  return limits
}

private func entry(_ text: String) -> LedgerEntry {
  LedgerEntry(
    InboxMessage(kind: .notification, body: Array(text.utf8), receivedAt: Timestamp(0)),
    .quarantined(LedgerEntry.QuarantineReason(source: .unproven, code: "test", detail: "", claimedApp: nil)))
}

/// An entry of a class, that takes about `weight` rows.
private func entry(_ text: String, _ commitClass: CommitClass, weight: Int = 1) -> LedgerEntry {
  let kind: InboxMessage.Kind =
    switch commitClass {
    case .notification, .claimedFromApple, .claimed, .unprovenFromApple, .unproven: .notification
    case .answer: .evidence
    case .relayed: .verifyReceiptAnswer
    }
  let message = InboxMessage(kind: kind, body: Array(text.utf8), receivedAt: Timestamp(0))
  guard commitClass != .unproven, commitClass != .unprovenFromApple else {
    var unproven = entry(text)
    unproven.isFromApple = commitClass == .unprovenFromApple
    return unproven
  }
  var findings = Findings(app: "com.example.app", environment: .sandbox)
  findings.seeds = (1..<weight).map { number in
    TransactionReference(app: "com.example.app", environment: .sandbox, transactionID: "\(number)", userID: nil)
  }
  let accepted = LedgerEntry.AcceptedMessage(
    app: App.ID(1), findings: findings, signedAt: nil, title: "")
  let isClaimed = commitClass == .claimed || commitClass == .claimedFromApple
  var claimed = LedgerEntry(message, .accepted(accepted), proof: isClaimed ? .claimed : .proven)
  claimed.isFromApple = commitClass == .claimedFromApple
  return claimed
}
