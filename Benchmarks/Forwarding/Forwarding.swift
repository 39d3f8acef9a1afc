import Simulator
import Time

/// What the service forwards while it takes notifications in, after an outage, and beside a back end that hangs.
///
/// `switchyard serve` with its private database, as in `http.durable`; the old back end answers 200 to everything at
/// once, from this process. Service, database, load generator and back end share the machine's cores.
///
/// 1. *Taking in*: first without a back end (that is `http.durable` of this run), then with one at the same load, then
///    at half the rate of the first, then without one again. What the back end hears is counted while the load lasts; its
///    lag counts from when a message was sent to the service.
/// 2. *Outage*: `--waiting` messages of a quarter as many customers are taken in while nobody listens at the back end's
///    port. From the first message that it hears again until the last.
/// 3. *Beside a dead one*: a second app's back end takes connections and never answers; as many messages wait for it. The
///    first app's messages are sent again at half the rate.
enum Forwarding {
  static let name = "forwarding"
  private static let other = SimulatedApp(name: "Dead", bundleID: "com.example.dead", appAppleID: 1_599_000_112)
  private static let perCustomer = 4
  /// Messages that are made and sent at a time during the outage: 14 KB each.
  private static let part = 20_000
  private static let patience = 600.0

  static let benchmark = Benchmark(name: name, summary: "messages forwarded to the old back end") { settings in
    let samples = try NotificationSamples(seed: 6)
    let backEnd = ListeningBackEnd()
    let service = try await ServedProcess.start(trusting: samples.pki, app: NotificationSamples.app)
    var load = try ForwardingLoad(
      samples, app: NotificationSamples.app, seed: 6, perCustomer: perCustomer, to: backEnd)
    let (port, live) = try await backEnd.listening { port in
      (port, try await takingIn(service, &load, backEnd, port: port, settings))
    }
    let outage = try await outage(service, &load, backEnd, port: port, settings)
    let dead = try await besideDead(service, samples, &load, backEnd, port: port, rate: live.half, settings)
    let memory = try service.peakMemory()
    try service.stop()
    return live.measurements + outage.measurements(beside: live.durable) + dead + [
      Measurement(name: "\(name).memory", value: memory, unit: "MB at most", target: .below(200))
    ]
  }

  // MARK: Taking in

  private struct Live {
    let durable: Double
    let measurements: [Measurement]

    var half: Int { Int(durable / 2) }
  }

  private static func takingIn(
    _ service: ServedProcess, _ load: inout ForwardingLoad, _ backEnd: ListeningBackEnd, port: UInt16,
    _ settings: Benchmark.Settings
  ) async throws -> Live {
    let seconds = Double(max(2, settings.seconds / 4))
    let warm = try await load.send(
      load.next(12_000), to: service.port, .asFastAsAnswered, seconds: 30, isForwarded: false)
    settings.note("  warm: \(Figure.text(warm.perSecond)) a second")
    let enough = Int(max(warm.perSecond * 1.3, 3_600) * seconds)
    let before = try await durable(service, &load, enough, seconds, settings)
    try service.forward(load.app, to: "http://127.0.0.1:\(port)/apple")
    let full = try await part(service, &load, backEnd, enough, .asFastAsAnswered, seconds, settings)
    let half = Int(before / 2)
    let paced = try await part(service, &load, backEnd, half * Int(seconds), .perSecond(half), seconds, settings)
    try service.forward(load.app, to: "off")
    let after = try await durable(service, &load, enough, seconds, settings)
    let durable = (before + after) / 2
    try service.forward(load.app, to: "http://127.0.0.1:\(port)/apple")
    return Live(
      durable: durable,
      measurements: [Measurement(name: "\(name).durable", value: durable, unit: "taken/s without forwarding")]
        + full.measurements("\(name).full", beside: durable) + paced.measurements("\(name).half", beside: durable))
  }

  /// Taken a second without a back end.
  private static func durable(
    _ service: ServedProcess, _ load: inout ForwardingLoad, _ count: Int, _ seconds: Double,
    _ settings: Benchmark.Settings
  ) async throws -> Double {
    let report = try await load.send(
      load.next(count), to: service.port, .asFastAsAnswered, seconds: seconds, isForwarded: false)
    guard report.failures == 0 else { throw BenchmarkError("\(report.failures) requests failed") }
    settings.note("  without forwarding: \(Figure.text(report.perSecond)) a second")
    return report.perSecond
  }

  private struct Part {
    let taken: LoadReport
    /// While the load lasted.
    let during: ListeningBackEnd.Heard
    /// When all was heard.
    let whole: ListeningBackEnd.Heard
    let missing: Int
    let service: Double
    let database: Double

    func measurements(_ name: String, beside durable: Double) -> [Measurement] {
      let heard = Double(during.count) / taken.seconds
      return [
        Measurement(
          name: name, value: heard, unit: "heard/s while taking in", against: durable, peer: "http.durable of this run",
          target: .atLeast(0.5)),
        Measurement(
          name: "\(name).taken", value: taken.perSecond, unit: "taken/s", against: durable,
          peer: "http.durable of this run"),
        Measurement(
          name: "\(name).lag", value: max(whole.worstLag, during.oldestUnheard), unit: "s at worst", target: .below(2)),
        Measurement(name: "\(name).p99", value: taken.milliseconds(0.99), unit: "ms to take in"),
        Measurement(name: "\(name).cpu.service", value: service * 1e6 / Double(taken.acknowledged), unit: "us/message"),
        Measurement(
          name: "\(name).cpu.database", value: database * 1e6 / Double(taken.acknowledged), unit: "us/message"),
        Measurement(
          name: "\(name).wrong", value: Double(missing + whole.outOfOrder + whole.repeats + whole.unknown),
          unit: "lost, late or twice", target: .below(1)),
      ]
    }
  }

  private static func part(
    _ service: ServedProcess, _ load: inout ForwardingLoad, _ backEnd: ListeningBackEnd, _ count: Int,
    _ pace: LoadGenerator.Pace, _ seconds: Double, _ settings: Benchmark.Settings
  ) async throws -> Part {
    let batch = try await load.next(count)
    backEnd.forget()
    let before = try service.processorSeconds()
    let taken = try await load.send(batch, to: service.port, pace, seconds: seconds)
    let (during, after) = (backEnd.heard, try service.processorSeconds())
    let missing = await wait(for: backEnd)
    settings.note(
      "  \(taken.acknowledged) taken in \(Figure.text(taken.seconds)) s, \(during.count) heard meanwhile, "
        + "\(Figure.text(backEnd.heard.worstLag)) s late at worst")
    return Part(
      taken: taken, during: during, whole: backEnd.heard, missing: missing,
      service: after.service - before.service, database: after.database - before.database)
  }

  /// Waits until everything is heard that was sent; how many are missing after a while.
  private static func wait(for backEnd: ListeningBackEnd) async -> Int {
    let end = ContinuousClock.now + .seconds(patience)
    while backEnd.missing > 0, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(50)) }
    return backEnd.missing
  }

  // MARK: An outage

  private struct Outage {
    let heard: ListeningBackEnd.Heard
    let missing: Int
    let service: Double
    let database: Double

    func measurements(beside durable: Double) -> [Measurement] {
      [
        Measurement(
          name: "\(name).drain", value: heard.perSecond, unit: "heard/s, \(heard.count) after an outage",
          against: durable, peer: "http.durable of this run", target: .atLeast(0.5)),
        Measurement(name: "\(name).drain.cpu.service", value: service * 1e6 / Double(heard.count), unit: "us/message"),
        Measurement(
          name: "\(name).drain.cpu.database", value: database * 1e6 / Double(heard.count), unit: "us/message"),
        Measurement(
          name: "\(name).drain.wrong", value: Double(missing + heard.outOfOrder + heard.repeats + heard.unknown),
          unit: "lost, late or twice", target: .below(1)),
      ]
    }
  }

  private static func outage(
    _ service: ServedProcess, _ load: inout ForwardingLoad, _ backEnd: ListeningBackEnd, port: UInt16,
    _ settings: Benchmark.Settings
  ) async throws -> Outage {
    try await take(settings.waiting, by: service, &load, settings)
    backEnd.forget()
    let before = try service.processorSeconds()
    let missing = try await backEnd.listening(on: port) { _ in await wait(for: backEnd) }
    let (heard, after) = (backEnd.heard, try service.processorSeconds())
    settings.note("  \(heard.count) heard after the outage, \(Figure.text(heard.perSecond)) a second")
    return Outage(
      heard: heard, missing: missing, service: after.service - before.service,
      database: after.database - before.database)
  }

  /// Has so many messages taken in, in parts that fit in memory.
  private static func take(
    _ count: Int, by service: ServedProcess, _ load: inout ForwardingLoad, _ settings: Benchmark.Settings
  ) async throws {
    var left = count
    while left > 0 {
      let report = try await load.send(
        load.next(min(left, part)), to: service.port, .asFastAsAnswered, seconds: patience)
      guard report.failures == 0 else { throw BenchmarkError("\(report.failures) requests failed") }
      left -= min(left, part)
    }
    settings.note("  \(count) messages wait")
  }

  // MARK: Beside a dead one

  private static func besideDead(
    _ service: ServedProcess, _ samples: NotificationSamples, _ load: inout ForwardingLoad,
    _ backEnd: ListeningBackEnd, port: UInt16, rate: Int, _ settings: Benchmark.Settings
  ) async throws -> [Measurement] {
    let seconds = Double(max(2, settings.seconds / 4))
    let silent = try SilentPort()
    try await service.register(other)
    try service.forward(other, to: "http://127.0.0.1:\(silent.number)/apple")
    let nobody = ListeningBackEnd()
    return try await backEnd.listening(on: port) { _ in
      let alone = try await part(service, &load, backEnd, rate * Int(seconds), .perSecond(rate), seconds, settings)
      var dead = try ForwardingLoad(samples, app: other, seed: 7, perCustomer: perCustomer, to: nobody)
      try await take(settings.waiting / 4, by: service, &dead, settings)
      let beside = try await part(service, &load, backEnd, rate * Int(seconds), .perSecond(rate), seconds, settings)
      return [
        Measurement(
          name: "\(name).beside-dead", value: Double(beside.during.count) / beside.taken.seconds,
          unit: "heard/s beside a dead back end", against: Double(alone.during.count) / alone.taken.seconds,
          peer: "the same without it", target: .atLeast(0.95)),
        Measurement(
          name: "\(name).beside-dead.lag", value: beside.whole.worstLag, unit: "s at worst",
          against: alone.whole.worstLag,
          peer: "the same without it"),
        Measurement(
          name: "\(name).beside-dead.wrong",
          value: Double(beside.missing + beside.whole.outOfOrder + beside.whole.repeats), unit: "lost, late or twice",
          target: .below(1)),
      ]
    }
  }
}
