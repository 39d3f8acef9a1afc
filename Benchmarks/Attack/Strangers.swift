import HTTPClient
import JSON
import Simulator

/// Each way in which strangers can attack, by itself, beside Apple's ordinary notifications.
///
/// For each a `switchyard serve` of its own with its private database. Apple calls from 127.0.0.1, the strangers from
/// 127.0.0.2 to 127.0.0.9. Once it is measured how many notifications are taken as fast as answered (`http.durable` of this
/// run); then Apple sends at half of that, first alone for a third of `--seconds`, then beside the attack for `--seconds`.
/// Measured are Apple's p99 (the median of that of each two seconds, since a virtual disk stalls now and then), what was
/// refused of Apple's, the longest turn of an event loop, memory, and the log. Service, database and load generators share the
/// machine's cores.
enum Strangers {
  static let name = "strangers"
  static let addresses = (2...9).map { UInt32(0x7F00_0000 + $0) }
  private static let warmUp = 12_000
  /// Bytes of log while an attack lasts, and at the start.
  private static let mostLog = 100_000.0

  static let benchmark = Benchmark(name: name, summary: "Apple's notifications beside each attack of strangers") {
    settings in
    let samples = try NotificationSamples(seed: 28)
    let attacks = try await StrangerAttack.all(samples)
    let first = try await start(samples, [])
    let warm = try await notifications(samples, warmUp, from: 0)
    _ = try await apple(warm, first, .asFastAsAnswered, seconds: 30)
    let burst = try await notifications(samples, 60_000, from: warmUp)
    let full = try await apple(burst, first, .asFastAsAnswered, seconds: 8)
    try first.stop()
    let half = max(1, Int(full.perSecond / 2))
    settings.note("  \(Figure.text(full.perSecond)) a second as fast as answered; from now on \(half)")
    let seconds = Double(settings.seconds)
    let calmSeconds = max(5, seconds / 3)
    let calmLoad = try await notifications(samples, half * Int(calmSeconds), from: 100_000)
    let load = try await notifications(samples, half * settings.seconds, from: 100_000 + calmLoad.count)
    var measurements = [
      Measurement(name: "\(name).durable", value: full.perSecond, unit: "taken/s without anybody else")
    ]
    for attack in attacks {
      let service = try await start(samples, attack.options)
      try await attack.prepare(service)
      _ = try await apple(Array(warm.prefix(4_000)), service, .asFastAsAnswered, seconds: 30)
      let calm = try await apple(calmLoad, service, .perSecond(half), seconds: calmSeconds)
      let log = try service.logBytes()
      let target = service.target
      async let hostile = attack.attack(target, seconds)
      let beside = try await apple(load, service, .perSecond(half), seconds: seconds)
      settings.note(
        "  \(attack.name): \(try await hostile); p99 of the whole \(Figure.text(beside.milliseconds(0.99))) ms, alone "
          + "\(Figure.text(calm.milliseconds(0.99))) ms")
      let logged = try service.logBytes() - log
      let stall = try await stall(of: service)
      let checks = try await attack.check(service)
      let name = "\(name).\(attack.name)"
      measurements += [
        Measurement(
          name: "\(name).p99", value: beside.milliseconds(0.99, medianOf: Int(seconds / 2)), unit: "ms",
          against: calm.milliseconds(0.99, medianOf: Int(calmSeconds / 2)),
          peer: "the same rate without strangers", target: .below(2.0001)),
        Measurement(
          name: "\(name).refused", value: Double(calm.failures + beside.failures),
          unit: "of \(calm.acknowledged + beside.acknowledged) of Apple's", target: .below(1)),
        Measurement(name: "\(name).stall", value: stall * 1_000, unit: "ms of a loop at most", target: .below(50)),
        Measurement(name: "\(name).log", value: Double(logged), unit: "bytes of log", target: .below(mostLog)),
        Measurement(
          name: "\(name).memory", value: try service.peakMemory(), unit: "MB at most", target: .below(200)),
      ]
      measurements += checks
      try service.stop()
    }
    return measurements
  }

  private static func start(_ samples: NotificationSamples, _ options: [String]) async throws -> ServedProcess {
    let service = try await ServedProcess.start(
      trusting: samples.pki, app: NotificationSamples.app,
      options: ["--apple-networks", "127.0.0.1/32"] + options, keepsLog: true)
    try service.register(secret: HostileRequests.secret, of: NotificationSamples.app)
    return service
  }

  private static func notifications(
    _ samples: NotificationSamples, _ count: Int, from first: Int
  ) async throws -> [[UInt8]] {
    try await samples.generate(count, from: first) { LoadGenerator.request(DurableHTTP.path, $0.body) }
  }

  /// Apple's notifications.
  private static func apple(
    _ requests: [[UInt8]], _ service: ServedProcess, _ pace: LoadGenerator.Pace, seconds: Double
  ) async throws -> LoadReport {
    try await LoadGenerator(
      port: service.port, connections: DurableHTTP.connections, pace: pace, seconds: seconds
    ).run(requests)
  }

  /// Seconds that the longest turn of an event loop took.
  private static func stall(of service: ServedProcess) async throws -> Double {
    let client = HTTPClient()
    let answer = try await client.send(ClientRequest(url: "http://127.0.0.1:\(service.port)/metrics"))
    await client.shutdown()
    let line = String(decoding: answer.body, as: UTF8.self).split(separator: "\n")
      .first { $0.hasPrefix("switchyard_event_loop_stall_seconds ") }
    guard let value = line?.split(separator: " ").last.flatMap({ Double($0) }) else {
      throw BenchmarkError("no switchyard_event_loop_stall_seconds")
    }
    return value
  }
}
