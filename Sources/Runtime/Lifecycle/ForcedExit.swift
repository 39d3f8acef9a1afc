import Dispatch
import Synchronization
import Time

/// Leaves the process when the orderly way takes too long or a person insists.
///
/// Runs on Dispatch's threads, so that it works while Swift's are blocked in C.
final class ForcedExit: Sendable {
  private struct State {
    var running: [String]
    var repeats = RepeatedSignalFilter()
    var isArmed = false
    var isDisarmed = false
  }

  private let logger: Logger
  private let period: Interval
  private let mayLeave = SignalSource.stopsServices
  private let state: Mutex<State>

  init(after period: Interval, logger: Logger, running: [String]) {
    self.period = period
    self.logger = logger
    state = Mutex(State(running: running))
  }

  /// The first signal asks, the second one leaves.
  func noteSignal(_ signal: Signal) {
    switch state.withLock({ $0.repeats.note(at: .now) }) {
    case .first: arm()
    case .again: break
    case .second:
      logger.warning("second signal: leaving immediately", metadata: ["signal": "\(signal.name)"])
      SystemCall.leave(signal.exitCode)
    }
  }

  func noteEnded(_ service: String) {
    state.withLock { state in
      if let index = state.running.firstIndex(of: service) { state.running.remove(at: index) }
    }
  }

  /// Starts the grace period, once; `disarm` ends it.
  func arm() {
    let isFirst = state.withLock { state in
      defer { state.isArmed = true }
      return !state.isArmed
    }
    guard isFirst, mayLeave else { return }
    let deadline = DispatchTime.now() + .milliseconds(Int(period.milliseconds))
    DispatchQueue(label: "emergency exit").asyncAfter(deadline: deadline) { [self] in
      let (running, isDisarmed) = state.withLock { ($0.running, $0.isDisarmed) }
      if isDisarmed { return }
      logger.critical(
        "not stopped in time: leaving", metadata: ["running": .array(running.map { .string($0) })])
      SystemCall.leave(ExitStatus.failed.rawValue)
    }
  }

  func disarm() { state.withLock { $0.isDisarmed = true } }
}
