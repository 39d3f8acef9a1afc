/// Decides what a group does next; does nothing itself.
struct GroupShutdown {
  enum Action {
    case begin(reason: String)
    case stop(Int)
    case ended(Int, (any Error)?)
  }

  private let names: [String]
  private var running: [Int]
  private var outcome: ServiceGroup.Outcome?
  private var failure: (any Error)?

  init(names: [String]) {
    self.names = names
    running = Array(names.indices)
  }

  var isComplete: Bool { running.isEmpty }

  var result: Result<ServiceGroup.Outcome, any Error> {
    failure.map { .failure($0) } ?? .success(outcome ?? .cancelled)
  }

  mutating func observe(_ event: ServiceGroup.Event) -> [Action] {
    switch event {
    case .asked(let signal):
      guard outcome == nil else { return [] }
      outcome = signal.map { .stopped(by: $0) } ?? .cancelled
      return [.begin(reason: signal?.name ?? "cancelled")] + stopLast()
    case .ended(let index, let error):
      running.removeAll { $0 == index }
      let real = outcome != nil && error is CancellationError ? nil : error
      failure = failure ?? real
      guard outcome == nil else { return [.ended(index, real)] + stopLast() }
      outcome = .finished(service: names[index])
      return [.ended(index, real), .begin(reason: "\(names[index]) \(real == nil ? "ended" : "failed")")] + stopLast()
    }
  }

  private func stopLast() -> [Action] { running.last.map { [.stop($0)] } ?? [] }
}
