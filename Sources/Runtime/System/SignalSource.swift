import Dispatch
import Synchronization

/// Calls back for signals, on a thread that is never Swift's, for as long as it is kept.
///
/// In force when `init` returns: Dispatch installs its handler later than `resume`, and a signal in between would kill
/// the process (measured; ignoring the signal first, as on Darwin, makes Linux never deliver it).
package final class SignalSource: Sendable {
  /// Whether services stop at SIGINT and SIGTERM, and may end the process: false where it has other work.
  @TaskLocal package static var stopsServices = true

  private let number: UInt64

  package init(_ signals: [Signal], handler: @escaping @Sendable (Signal) -> Void) {
    number = SignalHub.shared.add(signals, handler)
  }

  deinit { cancel() }

  package func cancel() { SignalHub.shared.remove(number) }

  /// The signals as they come, until the task that reads them ends; for a service that reloads on SIGHUP.
  package static func stream(_ signals: [Signal]) -> AsyncStream<Signal> {
    let (stream, continuation) = AsyncStream<Signal>.makeStream(bufferingPolicy: .bufferingNewest(16))
    let source = SignalSource(signals) { continuation.yield($0) }
    continuation.onTermination = { _ in source.cancel() }
    return stream
  }
}

/// The process's Dispatch sources, one per signal that was ever listened to, never cancelled.
///
/// A cancelled source leaves a handler behind that swallows the signal, and the default action cannot be restored
/// without making the signal deaf to new sources (both measured on Linux). So a signal to which nobody listens any more
/// is answered here: the process leaves as it would have by default.
private final class SignalHub: Sendable {
  private typealias Listener = (signals: [Signal], handler: @Sendable (Signal) -> Void)

  private struct State {
    var sources: [Signal: any DispatchSourceSignal] = [:]
    var listeners: [UInt64: Listener] = [:]
    var last: UInt64 = 0
  }

  static let shared = SignalHub()

  private let state = Mutex(State())

  func add(_ signals: [Signal], _ handler: @escaping @Sendable (Signal) -> Void) -> UInt64 {
    state.withLock { state in
      state.last += 1
      state.listeners[state.last] = (signals, handler)
      for signal in signals where state.sources[signal] == nil {
        // A queue for each: the wait below would otherwise stand behind a handler that waits for the lock.
        let queue = DispatchQueue(label: signal.name)
        let source = DispatchSource.makeSignalSource(signal: signal.number, queue: queue)
        let registered = DispatchSemaphore(value: 0)
        source.setEventHandler { SignalHub.shared.deliver(signal) }
        source.setRegistrationHandler { registered.signal() }
        source.resume()
        registered.wait()
        state.sources[signal] = source
      }
      return state.last
    }
  }

  func remove(_ number: UInt64) { _ = state.withLock { $0.listeners.removeValue(forKey: number) } }

  private func deliver(_ signal: Signal) {
    let listeners = state.withLock { $0.listeners.values.filter { $0.signals.contains(signal) } }
    if listeners.isEmpty { SystemCall.leave(signal.exitCode) }
    for listener in listeners { listener.handler(signal) }
  }
}
