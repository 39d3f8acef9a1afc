import Simulator
import Time

/// How long the simulated App Store takes to live a year of 10,000 customers to whom everything happens.
///
/// One value on one thread, by the clock of the wall; nothing is signed. What is told is taken, and counted.
enum SimulatorYear {
  private static let name = "simulator.year"
  private static let customers = 10_000

  static let benchmark = Benchmark(name: name, summary: "a year of 10,000 customers, on one core") { settings in
    var app = AppPlan.sample("com.example.year")
    app.customers = customers
    app.habits = .lively
    let start = ContinuousClock.now
    var world = AppStoreWorld(plan: WorldPlan(apps: [app]), seed: 7, start: Timestamp(1_767_600_000_000))
    world.advance(by: .days(365))
    let told = world.drainNotifications().count
    let elapsed = (ContinuousClock.now - start).components
    guard told > customers else { throw BenchmarkError("only \(told) notifications in a year") }
    settings.note("\(told) notifications")
    let seconds = Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
    return [Measurement(name: name, value: seconds, unit: "s", target: .below(60))]
  }
}
