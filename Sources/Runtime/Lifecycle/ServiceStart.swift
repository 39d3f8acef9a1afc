package import Time

extension ServiceGroup {
  private enum StartEvent<Started: Sendable>: Sendable {
    case started(Result<Started, any Error>)
    case asked(Signal?)
  }

  /// Runs what has to be there before the services: a database that may first recover, for example.
  ///
  /// SIGTERM and SIGINT cancel it. It has `gracePeriod` to end; then, or at a second signal, the process leaves. Without
  /// listening, the first process of a container would not hear SIGTERM at all, and others would end without a word.
  ///
  /// - Returns: nil if a signal stopped it, after it has ended.
  package static func start<Started: Sendable>(
    logger: Logger, gracePeriod: Interval = .seconds(10), _ body: @escaping @Sendable () async throws -> Started
  ) async throws -> Started? {
    let (signals, continuation) = AsyncStream<Signal>.makeStream()
    let exit = ForcedExit(after: gracePeriod, logger: logger, running: ["start"])
    let source = SignalSource(SignalSource.stopsServices ? [.interrupt, .terminate] : []) { signal in
      exit.noteSignal(signal)
      continuation.yield(signal)
    }
    CommandShutdown.handOver()
    defer {
      source.cancel()
      exit.disarm()
    }
    let result: Result<Started, any Error>? = await withTaskGroup(of: StartEvent<Started>.self) { group in
      group.addTask {
        do { return .started(.success(try await body())) } catch { return .started(.failure(error)) }
      }
      group.addTask {
        for await signal in signals { return .asked(signal) }
        return .asked(nil)
      }
      var signal: Signal?
      while let event = await group.next() {
        switch event {
        case .started(let result):
          group.cancelAll()
          return signal == nil ? result : nil
        case .asked(let asked):
          signal = asked
          if let asked { logger.info("stopped before the start was complete", metadata: ["reason": "\(asked.name)"]) }
          group.cancelAll()
        }
      }
      return nil
    }
    return try result?.get()
  }
}
