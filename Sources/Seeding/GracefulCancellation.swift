import Database
import Runtime
import Synchronization
import Time

/// The stop of one look-up: at once while it has not begun, and afterwards when its time is over.
///
/// Apple was asked, and is not to be asked for the same again because a process ends.
final class GracefulCancellation: Sendable {
  private struct State {
    var hasBegun = false
    var isStopped = false
  }

  private let length: Interval
  private let pacing: TimeSource
  private let state = Mutex(State())
  private let stops: AsyncStream<Never>
  private let stop: AsyncStream<Never>.Continuation

  init(_ length: Interval, _ pacing: TimeSource) {
    self.length = length
    self.pacing = pacing
    (stops, stop) = AsyncStream<Never>.makeStream()
  }

  /// Whether it may begin; not after a stop, unless it has already.
  func begin() -> Bool {
    state.withLock { state in
      state.hasBegun = state.hasBegun || !state.isStopped
      return state.hasBegun
    }
  }

  /// Runs `body` to its end; it is cancelled when the current task is, but later if it has begun.
  func run(_ body: @escaping @Sendable () async -> Void) async {
    await withTaskCancellationHandler {
      try? await withCancellationShield {
        await withTaskGroup { group in
          group.addTask { await body() }
          group.addTask { await self.untilOver() }
          await group.next()
          group.cancelAll()
        }
      }
    } onCancel: {
      state.withLock { $0.isStopped = true }
      stop.finish()
    }
  }

  /// Returns when the stop is due, or when nobody waits for it any more.
  private func untilOver() async {
    for await _ in stops {}
    if state.withLock({ $0.isStopped && $0.hasBegun }) { try? await pacing.sleep(length) }
  }
}
