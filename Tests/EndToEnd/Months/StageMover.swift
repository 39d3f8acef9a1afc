import HTTPClient
import JSON
import Simulator
import Support
import Time

/// How the apps of `SwitchedMonths` come from stage to stage.
protocol StageMover: Sendable {
  /// How far the world goes before stages are moved again.
  var step: Interval { get }
  /// In how many groups customers ask, each an hour after the one before; 1: all at once.
  var groups: Int { get }
  /// When the world begins, and in which time its customers come.
  var start: Milliseconds { get }
  var arrival: Interval { get }
  /// The stages by app.
  var stages: [String: String] { get }
  /// Whether anything is killed, or Apple fails, until stages are moved again: then some are told to try again later.
  var isHarmful: Bool { get }
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
  var groups: Int { 1 }
  var start: Milliseconds { MonthsPlan.start }
  var arrival: Interval { .days(365) }
  var isHarmful: Bool { false }

  func advance(_ time: WorldTime, by interval: Interval) async throws { time.advance(by: interval) }

  func disturb(_ site: SwitchedSite) async throws {}
}

/// A moment of `SwitchedMonths`.
struct SwitchedMoment: Sendable {
  static let length = Interval.days(548)
  /// By which moments are told apart, however far the world goes at once.
  static let step = Interval.days(6)
  static var steps: Int { Int(length.milliseconds / step.milliseconds) }

  let date: Milliseconds

  var day: Int { Int((date - MonthsPlan.start).milliseconds / Interval.days(1).milliseconds) }
  var step: Int { Int((date - MonthsPlan.start).milliseconds / Self.step.milliseconds) }

  /// Whether so many hundredths of the time have gone, for an app that is so many steps behind.
  func isPast(_ hundredths: Int, behind steps: Int = 0) -> Bool {
    step - steps >= Self.steps * hundredths / 100
  }

  /// Whether it is the first step of which `isPast` says so.
  func isAt(_ hundredths: Int, behind steps: Int = 0) -> Bool {
    step - steps == Self.steps * hundredths / 100
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

  /// Tells the simulator something.
  func control(_ path: String, _ body: JSONObject) async throws {
    let answer = try await client.send(
      ClientRequest(method: "POST", url: "\(apple.controlURL)/\(path)", body: body.encoded(), deadline: .minutes(10)))
    guard answer.status == 200 else {
      throw RunningProgram.NotReady(notes: String(decoding: answer.body, as: UTF8.self))
    }
  }

  /// Ends what Apple was still to fail at, of the failures that are so many.
  func endFailures() async throws {
    let url = "\(apple.controlURL)/faults"
    let list = try await client.send(ClientRequest(url: url))
    let rules = (try JSONReader.read(list.body).object?["faults"]?.array ?? []).compactMap(\.object)
    for rule in rules where rule["times"]?.integer != nil {
      guard let number = rule["number"]?.integer else { continue }
      _ = try await client.send(ClientRequest(method: "DELETE", url: "\(url)/\(number)"))
    }
  }
}
