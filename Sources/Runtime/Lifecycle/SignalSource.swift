import Dispatch

/// Calls back for signals, on a thread of its own, for as long as it is kept; they no longer end the process.
///
/// In force when `init` returns: Dispatch installs its handler later than `resume`, and a signal in between would kill
/// the process (measured; ignoring the signal first, as on Darwin, makes Linux never deliver it).
package final class SignalSource: Sendable {
  /// `DispatchSource` protocols are not marked Sendable on Linux.
  private final class Sources: @unchecked Sendable {  // unchecked because: written in init only, cancel is thread-safe
    let all: [any DispatchSourceSignal]
    init(_ all: [any DispatchSourceSignal]) { self.all = all }
  }

  private let sources: Sources

  package init(_ signals: [Signal], handler: @escaping @Sendable (Signal) -> Void) {
    let queue = DispatchQueue(label: "signals")
    let registered = DispatchSemaphore(value: 0)
    sources = Sources(
      signals.map { signal in
        let source = DispatchSource.makeSignalSource(signal: signal.number, queue: queue)
        source.setEventHandler { handler(signal) }
        source.setRegistrationHandler { registered.signal() }
        source.resume()
        return source
      })
    for _ in signals { registered.wait() }
  }

  deinit { cancel() }

  package func cancel() { for source in sources.all { source.cancel() } }

  /// The signals as they come; ends with the task that reads it. For a service that reloads on SIGHUP.
  package static func stream(_ signals: [Signal]) -> AsyncStream<Signal> {
    let (stream, continuation) = AsyncStream<Signal>.makeStream(bufferingPolicy: .bufferingNewest(16))
    let source = SignalSource(signals) { continuation.yield($0) }
    continuation.onTermination = { _ in source.cancel() }
    return stream
  }
}
