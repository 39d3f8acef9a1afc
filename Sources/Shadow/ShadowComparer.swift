package import Answering
package import Comparison
package import Database
import JSON
package import Ledger
import LegacyAnswers
import Mappings
import Purchases
import Receipts
package import Runtime
package import Signing
import Synchronization
package import Time
import Wire

/// Composes what we would have answered beside Apple's answers, and compares the two.
///
/// Beside the requests, in bounded time, memory and concurrency: what finds no room is left out first. Nothing here can slow,
/// fail or change what a client gets, which was decided before.
package final class ShadowComparer: Service {
  package struct Settings: Sendable {
    /// Calls that are looked at at once; their computing is done by one thread.
    package var workers = 2
    /// Calls that wait at most, and their bytes.
    package var waiting = 1_024
    package var waitingBytes = 64 << 20
    /// For one call; then it is left.
    package var within = Duration.seconds(5)
    /// Calls that are looked at, or were left and have not ended: at so many no other is taken.
    ///
    /// Each may hold a connection to the database, and requests need most of those.
    package var mostUnderWay = 3
    /// How often the counts of `ResponseTimes` are written.
    package var timesWrittenEvery = Duration.seconds(10)
    /// In which one customer's receipt has one voice; another one begins with each change of the stage.
    package var window = Interval.hours(24)
    /// After which a difference is looked at again.
    package var settlesAfter = Interval.minutes(10)
    /// How often it is looked whether any is due.
    package var settlesEvery = Duration.seconds(5)
    /// How long both answers are kept.
    package var bodiesKept = Interval.days(14)
    /// Of comparisons without a difference one in so many keeps its answers, for `compare rules`.
    package var equalKept = 50
    /// Bytes of what is kept of one comparison; what is longer is not.
    package var longestBody = 2 << 20

    package init() {}
  }

  let answering: VerifyReceiptResponder
  let pool: Pool
  let keys: Keyring
  let settings: Settings
  let metrics: ShadowMetrics
  let clock: WallClock
  let logger: Logger
  private let disk: @Sendable () -> DiskSpaceLevel
  private let times: ResponseTimes
  private let queue: ShadowQueue
  private let voices = RecentSamples(atMost: 65_536)
  /// Calls that are looked at, and those that were left and have not ended.
  private let underWay = Atomic<Int>(0)
  private let pace = LogRateLimiter()
  /// Receipts are proven, and answers composed and compared, there, one at a time, when nobody else needs the core.
  let thread = LowPriorityThread()

  /// - Parameters:
  ///   - times: counts how long our answers take to compose, apart from those that callers get.
  ///   - disk: below `ample` nothing is compared: what Apple signed needs the room.
  package init(
    answering: VerifyReceiptResponder, pool: Pool, keys: Keyring, settings: Settings = Settings(), times: ResponseTimes,
    metrics: MetricsRegistry, disk: @escaping @Sendable () -> DiskSpaceLevel, clock: WallClock, logger: Logger
  ) {
    self.times = times
    self.disk = disk
    self.answering = answering
    self.pool = pool
    self.keys = keys
    self.settings = settings
    self.metrics = ShadowMetrics(metrics)
    self.clock = clock
    self.logger = logger
    queue = ShadowQueue(most: settings.waiting, mostBytes: settings.waitingBytes)
    metrics.gauge(
      "switchyard_shadow_queue_length", help: "verifyReceipt calls that wait to be compared."
    ) { [queue] in Double(queue.count) }
  }

  /// Takes a call that was answered by Apple, if there is room; returns at once.
  package func offer(_ call: ShadowCall) {
    guard disk() == .ample, underWay.load(ordering: .relaxed) < settings.mostUnderWay, queue.offer(call) else {
      return metrics.calls[ShadowOutcome.shed.rawValue].increment()
    }
  }

  /// Whether a receipt was sampled in this window and stage, as far as this process knows.
  package func isSampled(_ receipt: Digest, in scope: AppScope) -> Bool {
    voices.contains(sampledVoice(receipt, scope))
  }

  package func noteSample(of receipt: Digest, in scope: AppScope) { voices.insert(sampledVoice(receipt, scope)) }

  private func sampledVoice(_ receipt: Digest, _ scope: AppScope) -> ComparisonTable.SampleKey {
    let digest = Digest.sha256(Array("sample \(answering.stagesMark) \(receipt.hex)".utf8)).bytes
    return ComparisonTable.SampleKey(scope: scope, window: window(at: now), customer: [], receipt: digest)
  }

  /// The time that a call is asked at.
  package var now: Timestamp { clock.now() }

  package func run() async throws {
    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { group in
        for _ in 0..<settings.workers { group.addTask { await self.work() } }
        group.addTask { await self.settleAgainAndAgain() }
      }
    } onCancel: {
      queue.close()
    }
  }

  private func work() async {
    while let call = await queue.next() {
      guard underWay.add(1, ordering: .relaxed).newValue <= settings.mostUnderWay else {
        underWay.subtract(1, ordering: .relaxed)
        metrics.calls[ShadowOutcome.shed.rawValue].increment()
        continue
      }
      let outcome = await withTimeout(
        within: settings.within, otherwise: ShadowOutcome.late, late: { self.underWay.subtract(1, ordering: .relaxed) }
      ) {
        await self.compare(call).outcome
      }
      if outcome != .late { underWay.subtract(1, ordering: .relaxed) }
      metrics.calls[outcome.rawValue].increment()
    }
  }

  // MARK: One call

  /// Compares a call now; returns when the comparison is in the ledger.
  package func compare(_ call: ShadowCall) async -> ComparisonSummary {
    let theirs = VerifyReceiptResponse(call.theirs)
    guard let status = theirs.status, !Self.isNoAnswer(status) else { return ComparisonSummary(.noAnswer) }
    let heard = heardVoice(of: call)
    if !call.isOperators, voices.contains(heard) { return ComparisonSummary(.repeated) }
    // Asked for the moment of Apple's answer; a clock that is a day off is not Apple's.
    let stated = theirs.receipt?.requestDate
    let date = stated.flatMap { abs(($0 - call.askedAt).milliseconds) < 86_400_000 ? $0 : nil }
    let begun = ContinuousClock.now
    do throws(ShadowSkipReason) {
      let candidate = try await answering.candidate(
        for: call.call, on: thread, askedAt: call.askedAt, date: date, inAnyStage: call.isOperators)
      times.note(.composed, in: candidate.scope, took: ContinuousClock.now - begun)
      let compared = await judged(candidate, call, at: date ?? call.askedAt)
      if [.compared, .repeated, .namesNobody].contains(compared.outcome) { voices.insert(heard) }
      return compared
    } catch {
      switch error {
      // It comes to the same as long as no stage changes.
      case .tooLarge, .unproven, .unknownApp, .notCompared: voices.insert(heard)
      case .learned, .failed: break
      }
      if error == .tooLarge || error == .failed,
        let app = theirs.receipt?.bundleID.flatMap({ answering.app(named: $0) })
      {
        times.note(.composed, in: AppScope(app: app.id, environment: call.call.environment), took: nil)
      }
      return ComparisonSummary(ShadowOutcome(rawValue: error.rawValue) ?? .failed)
    }
  }

  /// Whether Apple said nothing of the receipt.
  private static func isNoAnswer(_ status: Int64) -> Bool {
    status == 21_005 || status == 21_009 || (21_100...21_199).contains(status)
  }

  /// Whether an answer tells of a receipt.
  private static func tells(_ answer: JSONObject) -> Bool { [0, 21_006].contains(answer["status"]?.integer) }

  private func heardVoice(of call: ShadowCall) -> ComparisonTable.SampleKey {
    let body = Digest.sha256(Array("\(answering.stagesMark) ".utf8) + call.call.body).bytes
    let scope = AppScope(app: App.ID(0), environment: call.call.environment)
    return ComparisonTable.SampleKey(scope: scope, window: window(at: call.askedAt), customer: [], receipt: body)
  }

  private func window(at now: Timestamp) -> Timestamp {
    let length = max(1, settings.window.milliseconds)
    return Timestamp(now.sinceEpoch / length * length)
  }

  private enum Judged: Sendable {
    case compared(ComparisonRecord)
    case nothing(ShadowOutcome)
  }

  /// What is stored of two answers that were compared.
  private struct ComparisonRecord: Sendable {
    let judgement: ComparisonTable.Outcome
    let cause: DifferenceTable.Cause?
    let countsAgainst: Bool
    let customer: Digest
    let voice: Digest
    /// Both answers; empty where they are not kept.
    let body: [UInt8]
  }

  /// - Parameter equalKept: of how many comparisons without a difference one is kept.
  private static func judgedNow(
    _ candidate: ShadowResponse, _ call: ShadowCall, at date: Timestamp, equalKept: Int
  ) -> Judged {
    let limits = JSONLimits(bytes: max(1 << 20, candidate.body.count), depth: 32)
    guard let ours = try? JSONReader.read(candidate.body, limits: limits).object else { return .nothing(.failed) }
    guard !candidate.receipt.originalTransactionIDs.isEmpty, tells(call.theirs) || tells(ours) else {
      return .nothing(.namesNobody)
    }
    let pair = ResponsePair(
      request: ResponsePair.Request(
        receipt: candidate.receipt, receiptData: candidate.receiptData, environment: call.call.environment,
        excludesOldTransactions: candidate.excludesOldTransactions, date: date),
      theirs: call.theirs, ours: ours, facts: candidate.facts, account: candidate.account,
      signedAt: candidate.signedAt, isFresh: candidate.isFresh)
    let (compared, voice) = (ResponseComparator(candidate.composer).compare(pair), candidate.voice)
    let isKept = !compared.isEqual || Int(voice.bytes[0]) % max(1, equalKept) == 0
    return .compared(
      ComparisonRecord(
        judgement: compared.judgement, cause: compared.cause, countsAgainst: compared.countsAgainst,
        customer: Digest.sha256(Array("customer \(candidate.account.min() ?? voice.hex)".utf8)), voice: voice,
        body: isKept ? pair.json.encoded() : []))
  }

  private func judged(_ candidate: ShadowResponse, _ call: ShadowCall, at date: Timestamp) async -> ComparisonSummary {
    let compared: ComparisonRecord
    let equalKept = settings.equalKept
    switch await thread.run({ Self.judgedNow(candidate, call, at: date, equalKept: equalKept) }) {
    case .compared(let judged): compared = judged
    case .nothing(let outcome): return ComparisonSummary(outcome)
    }
    do throws(DatabaseError) {
      guard try await store(compared, of: candidate, call) else {
        return ComparisonSummary(.repeated, compared.judgement, of: compared.customer)
      }
    } catch {
      if let others = pace.turn(of: "store") {
        logger.warning(
          "a comparison was not stored", metadata: ["error": "\(error)", "sinceLastLine": "\(others + 1)"])
      }
      return ComparisonSummary(.failed)
    }
    let labels = [candidate.app.bundleID, call.call.environment.rawValue]
    metrics.comparisons[labels + [compared.cause?.rawValue ?? ComparisonTable.equal]].increment()
    if compared.countsAgainst { metrics.impact[labels].increment() }
    return ComparisonSummary(.compared, compared.judgement, of: compared.customer)
  }

  /// Whether the voice was not heard before.
  private func store(
    _ compared: ComparisonRecord, of candidate: ShadowResponse, _ call: ShadowCall
  ) async throws(DatabaseError) -> Bool {
    let now = clock.now()
    let voice = ComparisonTable.SampleKey(
      scope: candidate.scope, window: max(window(at: call.askedAt), candidate.flag.changedAt),
      customer: compared.customer.bytes, receipt: compared.voice.bytes)
    let (judgement, body) = (compared.judgement, compared.body)
    let settlesAt = compared.cause == nil ? nil : now + settings.settlesAfter
    return try await pool.transaction { [keys, settings] session throws(DatabaseError) in
      guard
        let id = try ComparisonTable.add(
          judgement, of: voice, epoch: candidate.flag.epoch, at: now, settlingAt: settlesAt, in: session)
      else { return false }
      if !body.isEmpty, body.count <= settings.longestBody {
        try ComparisonTable.keep(
          keys.seal(body, context: Self.context(id)).bytes, of: id, until: now + settings.bodiesKept, in: session)
      }
      return true
    }
  }

  /// What a kept comparison is sealed for.
  package static func context(_ id: Int64) -> String { "comparisons/\(id)" }
}

extension ComparisonResult {
  /// The judgement as it is kept.
  package var judgement: ComparisonTable.Outcome {
    ComparisonTable.Outcome(
      cause: cause?.rawValue ?? ComparisonTable.equal, counts: countsAgainst,
      differences: isEqual ? [] : JSONValue.array(json.prefix(Self.mostKept).map(JSONValue.object)).encoded(),
      impact: impact?.json.encoded())
  }

  /// Differences of one comparison that are kept; both answers are kept whole.
  private static var mostKept: Int { 200 }
}
