/// How the apps of `SwitchedMonths` come from stage to stage.
protocol StageMover: Sendable {
  /// The length of the world and its steps.
  var calendar: SwitchedCalendar { get }
  /// How far the world goes before stages are moved again.
  var step: Interval { get }
  /// In how many groups customers ask, each an hour after the one before; 1: all at once.
  var groups: Int { get }
  /// When the world begins, and in which time its customers come.
  var start: Timestamp { get }
  var arrival: Interval { get }
  /// The stages by app.
  var stages: [String: String] { get }
  /// Whether anything is killed, or Apple fails, until stages are moved again: then some are told to try again later.
  var isHarmful: Bool { get }
  /// Whether customers ask again in `live` until the ledger has answered one of them.
  var asksAgain: Bool { get }
  /// What was done, for whoever reads the soak's output.
  var story: [String] { get }
  /// What went otherwise than it should; asked for at the end.
  var complaints: [String] { get }

  /// Moves what is to be moved now.
  mutating func move(_ site: SwitchedSite, at moment: SwitchedMoment) async throws

  /// Lets the world's time go on.
  func advance(_ time: WorldTime, by interval: Interval) async throws

  /// Does harm while every customer asks.
  func disturb(_ site: SwitchedSite) async throws
}

extension StageMover {
  var calendar: SwitchedCalendar { SwitchedCalendar() }
  var groups: Int { 1 }
  var start: Timestamp { MonthsPlan.start }
  var arrival: Interval { .days(365) }
  var isHarmful: Bool { false }
  var asksAgain: Bool { false }

  func advance(_ time: WorldTime, by interval: Interval) async throws { time.advance(by: interval) }

  func disturb(_ site: SwitchedSite) async throws {}
}

/// The length of `SwitchedMonths`, and the step of its moments, which does not depend on the step of the world.
struct SwitchedCalendar: Sendable {
  var length = Interval.days(548)
  var step = Interval.days(6)
  /// The number of steps by which an app is behind the one before it.
  var lag = 2

  var steps: Int { Int(length.milliseconds / step.milliseconds) }
}

/// A moment of `SwitchedMonths`.
struct SwitchedMoment: Sendable {
  let date: Timestamp
  let calendar: SwitchedCalendar

  var day: Int { Int((date - MonthsPlan.start).milliseconds / Interval.days(1).milliseconds) }
  var step: Int { Int((date - MonthsPlan.start).milliseconds / calendar.step.milliseconds) }

  /// Whether a share of the time has passed, in percent, for an app that comes after `apps` others.
  func isPast(_ percent: Int, after apps: Int = 0) -> Bool {
    step - calendar.lag * apps >= calendar.steps * percent / 100
  }

  /// Whether it is the first step of which `isPast` says so.
  func isAt(_ percent: Int, after apps: Int = 0) -> Bool {
    step - calendar.lag * apps == calendar.steps * percent / 100
  }
}

/// What an operator of `SwitchedMonths` works with, and the simulated App Store around it.
struct SwitchedSite: Sendable {
  let apps: [AppPlan]
  let time: WorldTime
  let apple: RunningAppStore
  let program: Program
  /// Options of whatever reads what the simulator signs.
  let trust: [String]
  let place: TemporaryDirectory
  let workers: TwoWorkers
  let client: HTTPClient

  /// Runs a command; `RunningProgram.NotReady` with its notes when it ends otherwise than with one of these.
  @discardableResult
  func run(_ words: [String], allowing statuses: Set<Int32> = [0]) async throws -> Program.Outcome {
    let outcome = try await program.run(words, within: .minutes(10))
    guard statuses.contains(outcome.status) else { throw RunningProgram.NotReady(notes: "\(words): \(outcome)") }
    return outcome
  }

  /// Runs commands at the same time: each waits until the services follow.
  func runAll(_ commands: [[String]]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for words in commands { group.addTask { try await run(words) } }
      try await group.waitForAll()
    }
  }

  /// Tells the simulator something.
  func control(_ path: String, _ body: JSONObject) async throws {
    try await apple.control(client, "POST", path, body)
  }

  /// Ends what Apple was still to fail at, of the failures that are so many.
  func endFailures() async throws {
    try await apple.endFaults(client) { $0["times"]?.integer != nil }
  }
}
