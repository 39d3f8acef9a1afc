/// Time that passes only while everybody waits for it: however slow the machine is, nobody's work takes any.
///
/// Tasks run on its one thread. When none can go on and nothing is on its way to the App Store or to the database, the
/// clock is set to when the first of those who sleep is to wake. (A clock that each sleeper moves by itself adds up the
/// waits of tasks that wait at the same time; a minute would then be over before a minute's calls were made.)
final class VirtualTime: TaskExecutor, Sendable {
  private struct Sleeper {
    let until: Timestamp
    let ticket: Int
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var jobs: [UnownedJob] = []
    var sleepers: [Sleeper] = []
    var lastTicket = 0
    var isOver = false
  }

  private let steps: SteppedClock
  private let isBusy: @Sendable () -> Bool
  private let state = Mutex(State())

  /// - Parameter isBusy: whether something is on its way that does not take time.
  init(_ steps: SteppedClock, isBusy: @escaping @Sendable () -> Bool) {
    self.steps = steps
    self.isBusy = isBusy
  }

  var clock: WallClock { steps.clock }

  /// Runs `body` and whatever it starts in this time.
  func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    DedicatedThread.start { [self] in turn() }
    defer { state.withLock { $0.isOver = true } }
    return try await withTaskExecutorPreference(self) { try await body() }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.jobs.append(job) }
  }

  func sleep(_ interval: Interval) async throws {
    try Task.checkCancellation()
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    let until = clock.now() + max(interval, .milliseconds(0))
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        state.withLock { state in
          state.sleepers.append(Sleeper(until: until, ticket: ticket, continuation: continuation))
        }
        if Task.isCancelled { wake(ticket) }
      }
    } onCancel: {
      wake(ticket)
    }
  }

  private func wake(_ ticket: Int) {
    let sleeper = state.withLock { state in
      state.sleepers.firstIndex { $0.ticket == ticket }.map { state.sleepers.remove(at: $0) }
    }
    sleeper?.continuation.resume(throwing: CancellationError())
  }

  // MARK: The thread

  private func turn() {
    let executor = unsafe asUnownedTaskExecutor()
    var pauses = 0
    while !state.withLock({ $0.isOver && $0.jobs.isEmpty }) {
      let jobs = state.withLock { state in
        defer { state.jobs = [] }
        return state.jobs
      }
      for job in jobs { unsafe job.runSynchronously(on: executor) }
      // Looked at for a while: what has just come in may be about to go on, on another thread.
      pauses = jobs.isEmpty && !isBusy() ? pauses + 1 : 0
      if pauses > 12 {
        pauses = 0
        if advance() { continue }
      }
      if jobs.isEmpty { usleep(50) }
    }
  }

  /// Wakes who is to wake next; false when nobody sleeps.
  private func advance() -> Bool {
    let next = state.withLock { state in
      let index = state.sleepers.indices.min {
        (state.sleepers[$0].until, state.sleepers[$0].ticket) < (state.sleepers[$1].until, state.sleepers[$1].ticket)
      }
      return index.map { state.sleepers.remove(at: $0) }
    }
    guard let next else { return false }
    let now = clock.now()
    if next.until > now { steps.advance(by: next.until - now) }
    next.continuation.resume()
    return true
  }
}
