import Simulator

/// How fast the simulator makes notifications: what every load has to wait for before it begins.
///
/// 20,000 different ones with two or three signatures each, on all cores, by the clock of the wall.
enum StreamRate {
  private static let name = "simulator.stream"
  private static let count = 20_000

  static let benchmark = Benchmark(name: name, summary: "notifications made and signed, on all cores") { _ in
    let samples = try NotificationSamples(seed: 5)
    let start = ContinuousClock.now
    let sizes = try await samples.generate(count, keeping: \.body.count)
    let elapsed = (ContinuousClock.now - start).components
    let seconds = Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
    guard sizes.count == count else { throw BenchmarkError("only \(sizes.count) were made") }
    return [
      Measurement(name: name, value: Double(count) / seconds, unit: "notifications/s", target: .atLeast(10_000))
    ]
  }
}
