package import Time

/// Runs services together and stops them in reverse order: the surface of swift-service-lifecycle's `ServiceGroup`.
///
/// SIGTERM, SIGINT, a service that returns and a service that throws all do the same: the last service is cancelled and
/// awaited, then the one before it, down to the first. When that takes longer than `gracePeriod` the process leaves with
/// 1; a second signal makes it leave at once with 130 or 143. Both work also when every thread is stuck in C.
package final class ServiceGroup: Sendable {
  /// Why the group came to an end without an error.
  package enum Outcome: Sendable, Hashable {
    case finished(service: String)
    case stopped(by: Signal)
    case cancelled
  }

  enum Event: Sendable {
    case ended(Int, (any Error)?)
    case asked(Signal?)
  }

  private let services: [any Service]
  private let logger: Logger
  private let gracePeriod: Interval

  /// A group in the order in which the services depend on each other: what is needed by others comes first.
  package init(services: [any Service], logger: Logger, gracePeriod: Interval = .seconds(10)) {
    self.services = services
    self.logger = logger
    self.gracePeriod = gracePeriod
  }

  /// Runs until every service has ended; rethrows the error of the service that failed first.
  ///
  /// Cancelling the calling task cancels all services at once, without order.
  ///
  /// - Parameter announce: called when signals stop the group in order from then on, before any service runs; what it
  ///   throws ends everything.
  @discardableResult
  package func run(announcing announce: () throws -> Void = {}) async throws -> Outcome {
    SystemCall.ignoreBrokenPipes()
    let (signals, continuation) = AsyncStream<Signal>.makeStream()
    let exit = ForcedExit(after: gracePeriod, logger: logger, running: services.map(\.name))
    let source = SignalSource(SignalSource.stopsServices ? [.interrupt, .terminate] : []) { signal in
      exit.noteSignal(signal)
      continuation.yield(signal)
    }
    CommandShutdown.handOver()
    defer { source.cancel() }
    try announce()

    let result = await withTaskGroup(of: Event.self) { group in
      let stops = services.map { _ in AsyncStream<Never>.makeStream() }
      for (index, service) in services.enumerated() {
        let stop = stops[index].stream
        group.addTask { .ended(index, await Self.run(service, until: stop)) }
      }
      group.addTask {
        for await signal in signals { return .asked(signal) }
        return .asked(nil)
      }

      var shutdown = GroupShutdown(names: services.map(\.name))
      while !shutdown.isComplete, let event = await group.next() {
        // A service that ends because all were cancelled may be heard before the word that they were.
        let word = Task.isCancelled ? shutdown.observe(.asked(nil)) : []
        for action in word + shutdown.observe(event) {
          switch action {
          case .begin(let reason):
            logger.info("stopping", metadata: ["reason": "\(reason)"])
            exit.arm()
          case .stop(let index): stops[index].continuation.finish()
          case .ended(let index, let error): report(services[index].name, error, exit)
          }
        }
      }
      exit.disarm()
      group.cancelAll()
      return shutdown.result
    }
    return try result.get()
  }

  private func report(_ name: String, _ error: (any Error)?, _ exit: ForcedExit) {
    exit.noteEnded(name)
    if let error {
      logger.error("service failed", metadata: ["service": "\(name)", "error": "\(error)"])
    } else {
      logger.info("service ended", metadata: ["service": "\(name)"])
    }
  }

  /// Runs one service; it is cancelled when `stop` ends.
  private static func run(_ service: any Service, until stop: AsyncStream<Never>) async -> (any Error)? {
    await withTaskGroup(of: Event.self) { group in
      group.addTask {
        do {
          try await service.run()
          return .ended(0, nil)
        } catch {
          return .ended(0, error)
        }
      }
      group.addTask {
        for await _ in stop {}
        return .asked(nil)
      }
      while let event = await group.next() {
        group.cancelAll()
        if case .ended(_, let error) = event { return error }
      }
      return nil
    }
  }
}
