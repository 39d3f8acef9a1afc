import Dispatch
import Synchronization
package import Time

/// SIGINT or SIGTERM as a wish that a long command looks at: it ends where that is safe.
///
/// A second signal leaves at once, and so does the first one when the command has not ended after `patience`.
package final class StopRequest: Sendable {
  private let received = Mutex<Signal?>(nil)
  private let source = Mutex<SignalSource?>(nil)

  /// In force from now on, until it is let go.
  package init(patience: Interval = .seconds(4)) {
    let source = SignalSource([.interrupt, .terminate]) { [weak self] signal in self?.note(signal, patience) }
    self.source.withLock { $0 = source }
  }

  /// The signal that asked to stop; nil while nobody did.
  package var signal: Signal? { received.withLock { $0 } }

  private func note(_ signal: Signal, _ patience: Interval) {
    let isSecond = received.withLock { received in
      defer { received = signal }
      return received != nil
    }
    if isSecond { SystemCall.leave(signal.exitCode) }
    DispatchQueue(label: "stop request").asyncAfter(deadline: .now() + .milliseconds(Int(patience.milliseconds))) {
      [weak self] in
      if self != nil { SystemCall.leave(signal.exitCode) }
    }
  }
}
