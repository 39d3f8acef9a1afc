import Database
import Ledger
import Simulator

/// What Apple and the old back end notice of strangers who attack the service.
///
/// `switchyard serve` with its private database. Apple calls from 127.0.0.1, the strangers from 127.0.0.2 to 127.0.0.9.
/// First as fast as answered (that is `http.durable` of this run), then a third of that rate without anybody else, then the
/// same rate for `--seconds` beside an attack of 500 a second in all: requests in turn of forged V1 and V2 notifications,
/// V1 notifications with the app's secret, verifyReceipt calls and evidence without a token (`HostileRequests`); ten V1
/// bodies a second of nearly the largest size; connections that say nothing and uploads that stop half-way
/// (`HostileConnections`). Beside its V2 notifications Apple sends `legacyRate` of V1 a second. Apple's verifyReceipt is a
/// port that never answers. Service, database, load generators and back end share the machine's cores.
enum Attack {
  static let name = "attack"
  /// Requests a second; with the connections that say nothing or stop half-way, and the long bodies, there are 510.
  static let rate = 400
  /// V1 notifications of Apple's a second.
  private static let legacyRate = 20
  /// Long bodies a second.
  private static let longRate = 10
  private static let perCustomer = 4
  private static let patience = 60.0
  private static let strangers = (2...9).map { UInt32(0x7F00_0000 + $0) }

  static let benchmark = Benchmark(name: name, summary: "Apple's notifications beside strangers who attack") {
    settings in
    let samples = try NotificationSamples(seed: 8)
    let (backEnd, apple) = (ListeningBackEnd(), try SilentPort())
    let upstream = "http://127.0.0.1:\(apple.number)"
    let service = try await ServedProcess.start(
      trusting: samples.pki, app: NotificationSamples.app,
      options: [
        "--verify-receipt-url", upstream, "--verify-receipt-sandbox-url", upstream,
        "--apple-networks", "127.0.0.1/32",
      ])
    try service.register(secret: HostileRequests.secret, of: NotificationSamples.app)
    var load = try ForwardingLoad(
      samples, app: NotificationSamples.app, seed: 8, perCustomer: perCustomer, to: backEnd)
    let measurements = try await backEnd.listening { port in
      try await measure(service, samples, &load, backEnd, port: port, settings)
    }
    let (usage, memory) = (try await service.quarantine(), try service.peakMemory())
    try service.stop()
    // A source is full at its quota; the last commit may go beyond it by what it holds.
    let tooMuch = QuarantineSource.allCases.count { source in
      let (kept, quota) = (usage[source] ?? QuarantineUsage(), source.quota)
      return kept.messages > quota.messages + quota.messages / 20 || kept.bytes > quota.bytes + quota.bytes / 20
    }
    return measurements + [
      Measurement(
        name: "\(name).quarantine", value: Double(tooMuch), unit: "sources beyond their quota", target: .below(1)),
      Measurement(name: "\(name).memory", value: memory, unit: "MB at most", target: .below(200)),
    ]
  }

  private static func measure(
    _ service: ServedProcess, _ samples: NotificationSamples, _ load: inout ForwardingLoad,
    _ backEnd: ListeningBackEnd, port: UInt16, _ settings: Benchmark.Settings
  ) async throws -> [Measurement] {
    let warm = try await load.send(
      load.next(12_000), to: service.port, .asFastAsAnswered, seconds: 30, isForwarded: false)
    let full = try await load.send(
      load.next(Int(max(warm.perSecond * 1.3, 3_600) * 10)), to: service.port, .asFastAsAnswered, seconds: 10,
      isForwarded: false)
    let third = max(1, Int(full.perSecond / 3))
    settings.note("  \(Figure.text(full.perSecond)) a second as fast as answered; from now on \(third)")
    try service.forward(load.app, to: "http://127.0.0.1:\(port)/apple")
    let seconds = Double(settings.seconds)
    let calmSeconds = max(5, seconds / 3)
    let hostileRequests = try await HostileRequests(samples)
    let calmLegacyCount = legacyRate * Int(calmSeconds)
    let genuine = hostileRequests.genuine(calmLegacyCount + legacyRate * settings.seconds)
    let port = service.port
    let calmBatch = try await load.next(third * Int(calmSeconds))
    async let calmV1 = legacy(Array(genuine.prefix(calmLegacyCount)), to: port, seconds: calmSeconds)
    let calm = try await load.send(calmBatch, to: port, .perSecond(third), seconds: calmSeconds)
    let calmLegacy = try await calmV1
    settings.note(
      "  alone: 99 of 100 within \(Figure.text(calm.milliseconds(0.99))) ms, of V1 \(Figure.text(calmLegacy.milliseconds(0.99))) ms"
    )
    let batch = try await load.next(third * settings.seconds)
    let forged = hostileRequests.requests(rate * settings.seconds)
    let long = hostileRequests.long(longRate * settings.seconds)
    let silent = try HostileConnections(port: port, from: strangers)
    // Calls that wait for Apple hold their connections, so they have connections of their own.
    let calls = forged.indices.filter { $0 % HostileRequests.kinds == HostileRequests.verifyReceipt }
    let waiting = Set(calls)
    let (held, quick) = (calls.map { forged[$0] }, forged.indices.filter { !waiting.contains($0) }.map { forged[$0] })
    let share = rate / HostileRequests.kinds
    async let hostile = LoadGenerator(
      port: port, connections: 64, pace: .perSecond(rate - share), seconds: seconds, sources: strangers
    ).run(quick)
    async let waited = LoadGenerator(
      port: port, connections: 256, pace: .perSecond(share), seconds: seconds, sources: strangers
    ).run(held)
    async let read = LoadGenerator(
      port: port, connections: 16, pace: .perSecond(longRate), seconds: seconds, sources: strangers
    ).run(long)
    async let v1 = legacy(Array(genuine.dropFirst(calmLegacyCount)), to: port, seconds: seconds)
    let beside = try await load.send(batch, to: port, .perSecond(third), seconds: seconds)
    let besideLegacy = try await v1
    let (answered, called, slow) = (try await hostile, try await waited, try await read)
    let opened = silent.end()
    let end = ContinuousClock.now + .seconds(patience)
    while backEnd.missing > 0, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(50)) }
    let heard = backEnd.heard
    let statuses = answered.statuses.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }
    settings.note("  strangers: \(statuses.joined(separator: ", ")), \(answered.unanswered) cut off")
    let receipts = called.statuses.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }
    settings.note("  verifyReceipt: \(receipts.joined(separator: ", ")), \(called.unanswered) cut off")
    let bodies = slow.statuses.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }
    settings.note("  long bodies: \(bodies.joined(separator: ", ")), \(slow.unanswered) cut off")
    return [
      Measurement(name: "\(name).durable", value: full.perSecond, unit: "taken/s without anybody else"),
      Measurement(
        name: "\(name).refused", value: Double(calm.failures + beside.failures),
        unit: "of \(beside.acknowledged + beside.failures) of Apple's", target: .below(1)),
      Measurement(
        name: "\(name).legacy.refused", value: Double(calmLegacy.failures + besideLegacy.failures),
        unit: "of \(besideLegacy.acknowledged + besideLegacy.failures) of Apple's V1", target: .below(1)),
      Measurement(
        name: "\(name).p99", value: beside.milliseconds(0.99), unit: "ms", against: calm.milliseconds(0.99),
        peer: "the same rate without strangers", target: .below(3.0001)),
      Measurement(
        name: "\(name).legacy.p99", value: besideLegacy.milliseconds(0.99), unit: "ms of V1",
        against: calmLegacy.milliseconds(0.99), peer: "the same rate without strangers", target: .below(3.0001)),
      Measurement(
        name: "\(name).lag", value: max(heard.worstLag, heard.oldestUnheard), unit: "s until heard, at worst",
        target: .below(5)),
      Measurement(
        name: "\(name).wrong", value: Double(backEnd.missing + heard.outOfOrder + heard.repeats),
        unit: "lost, late or twice", target: .below(1)),
      Measurement(
        name: "\(name).strangers",
        value: Double([answered, called, slow].reduce(opened) { $0 + $1.statuses.values.reduce($1.unanswered, +) })
          / seconds,
        unit: "requests/s of strangers, with \(opened) connections that are held", target: .atLeast(475)),
    ]
  }

  /// Apple's V1 notifications, at their rate.
  private static func legacy(_ requests: [[UInt8]], to port: UInt16, seconds: Double) async throws -> LoadReport {
    try await LoadGenerator(port: port, connections: 8, pace: .perSecond(legacyRate), seconds: seconds).run(requests)
  }
}
