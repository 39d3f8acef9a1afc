import Database

/// What it costs Apple's answers that ours are compared with them: `switchyard serve` in `record` and in `shadow`, in turns.
///
/// Five rounds of both stages, of which now the one comes first and now the other; the median of the rounds' ratios. 500
/// customers of 20 rows with six receipts each, every receipt with a voice of its own, are in the ledger beside one of 100,000
/// rows. Apple is in this process: it gives the answers that the service itself gave while it was live, so that nothing
/// differs, the same bytes each time. Its answers were recorded before. Service, database, Apple and load generator share the
/// machine's cores. Compared is counted once nothing waits to be compared.
///
/// * `shadow.rate`: 64 connections, each asking again when it has its answer, which takes Apple 250 ms: calls a second, and
///   how many of them were compared. Each call is another receipt.
/// * `shadow.full`: the same with an Apple that answers at once. No target: both cores are busy with the calls alone, and what
///   cannot be compared beside them is left out.
/// * `shadow.ordinary`: 200 calls a second, to an Apple that answers at once, all of them compared. No target: it says what
///   of the next three is the cost of comparing at all.
/// * `shadow.throws`, `shadow.hangs`, `shadow.large`: 200 calls a second, latency counted from when each was due, to an Apple
///   that answers at once. The candidate *throws* since the app has chosen a reading that this build does not know. It
///   *hangs* since another connection has locked the table of comparisons: from 25 seconds before what is measured until
///   after it, so that what hangs piles up. One call in ten is about the *large* customer, each time in other bytes. `met`
///   says how many calls of `shadow` came to that. Both stages have the same calls.
enum ShadowCost {
  static let name = "shadow"
  private static let appleTakes = Duration.milliseconds(250)
  private static let perSecond = 200
  private static let hangsBefore = 25

  static let benchmark = Benchmark(name: name, summary: "Apple's answers while ours are compared with them") {
    settings in
    let apple = RecordedApple()
    return try await apple.listening { port in
      let service = try await ShadowProcess.start(apple, port: port, settings.note)
      apple.take(appleTakes)
      var measurements = try await rate(
        service, "\(name).rate", seconds: max(3, settings.seconds / 6), targets: (.atLeast(0.8), .atLeast(0.9)))
      apple.take(.zero)
      measurements += try await rate(service, "\(name).full", seconds: 3, targets: (nil, nil))
      for candidate in Candidate.allCases {
        settings.note("  \(candidate.rawValue)")
        measurements += try await tail(service, candidate, seconds: max(5, settings.seconds / 4))
      }
      measurements.append(
        Measurement(name: "\(name).memory", value: try service.served.peakMemory(), unit: "MB at most"))
      try await service.stop()
      return measurements
    }
  }

  // MARK: Calls a second

  private static func rate(
    _ service: ShadowProcess, _ name: String, seconds: Int,
    targets: (rate: Measurement.Target?, compared: Measurement.Target?)
  ) async throws -> [Measurement] {
    let rounds = try await ShadowRounds { isShadow in
      try await service.enter(shadow: isShadow)
      let before = try await service.counts()
      let load = try await service.load(service.requests, .asFastAsAnswered, seconds: Double(seconds))
      return ShadowHalf(load: load, counts: try await service.settled().since(before))
    }
    let rates = rounds.medians(\.load.perSecond)
    let calls = rounds.shadow.reduce(0) { $0 + $1.load.acknowledged }
    let compared = rounds.shadow.reduce(0) { $0 + $1.counts.compared }
    let different = rounds.shadow.reduce(0) { $0 + $1.counts.different }
    var outcomes: [String: Int] = [:]
    for half in rounds.shadow { outcomes.merge(half.counts.calls, uniquingKeysWith: +) }
    let others = outcomes.filter { $0.key != "compared" && $0.value > 0 }.sorted { $0.key < $1.key }
    return [
      Measurement(
        name: name, value: rounds.ratio(\.load.perSecond), unit: "times record's calls/s", target: targets.rate),
      Measurement(name: "\(name).record", value: rates.record, unit: "calls/s"),
      Measurement(name: "\(name).shadow", value: rates.shadow, unit: "calls/s"),
      Measurement(name: "\(name).p99", value: rounds.ratio(\.p99), unit: "times record's p99"),
      Measurement(
        name: "\(name).compared", value: Double(compared) / Double(max(1, calls)), unit: "of shadow's calls",
        target: targets.compared),
      Measurement(name: "\(name).different", value: Double(different), unit: "of \(compared)"),
      Measurement(
        name: "\(name).wrong", value: Double(rounds.wrong), unit: "failed, or not Apple's", target: .below(1)),
    ] + others.map { Measurement(name: "\(name).\($0.key)", value: Double($0.value), unit: "of \(calls)") }
  }

  // MARK: How long calls take

  private enum Candidate: String, CaseIterable {
    case ordinary
    case throwing = "throws"
    case hanging = "hangs"
    case large

    var target: Measurement.Target? { self == .ordinary ? nil : .below(1.15) }

    /// What becomes of its calls.
    var outcomes: [String] {
      switch self {
      case .ordinary: ["compared"]
      case .throwing: ["failed"]
      case .hanging: ["late", "shed"]
      case .large: ["tooLarge"]
      }
    }

    func requests(_ count: Int, of service: ShadowProcess) -> [[UInt8]] {
      (0..<count).map { place in
        self == .large && place.isMultiple(of: 10)
          ? service.largeRequest(place) : service.requests[place % service.requests.count]
      }
    }
  }

  private static func tail(
    _ service: ShadowProcess, _ candidate: Candidate, seconds: Int
  ) async throws -> [Measurement] {
    let requests = candidate.requests(perSecond * seconds, of: service)
    func load() async throws -> LoadReport {
      try await service.load(requests, .perSecond(perSecond), seconds: Double(seconds))
    }
    if candidate == .throwing { try await service.choose(readings: ["Y-999"]) }
    let rounds = try await ShadowRounds { isShadow in
      try await service.enter(shadow: isShadow)
      guard candidate == .hanging, isShadow else {
        let before = try await service.counts()
        return ShadowHalf(load: try await load(), counts: try await service.settled().since(before))
      }
      let lock = try await service.lockComparisons()
      let early = candidate.requests(perSecond * hangsBefore, of: service)
      _ = try await service.load(early, .perSecond(perSecond), seconds: Double(hangsBefore))
      let before = try await service.counts()
      let report = try await load()
      // What hangs is counted while it does: afterwards all of it is compared.
      let counts = try await service.counts().since(before)
      await lock.close()
      _ = try await service.settled()
      return ShadowHalf(load: report, counts: counts)
    }
    if candidate == .throwing { try await service.choose(readings: []) }
    let (name, p99) = ("\(Self.name).\(candidate.rawValue)", rounds.medians(\.p99))
    let met = rounds.shadow.reduce(0) { sum, half in
      sum + candidate.outcomes.reduce(0) { $0 + (half.counts.calls[$1] ?? 0) }
    }
    return [
      Measurement(
        name: "\(name).p99", value: rounds.ratio(\.p99), unit: "times record's p99", target: candidate.target),
      Measurement(name: "\(name).p99.record", value: p99.record, unit: "ms"),
      Measurement(name: "\(name).p99.shadow", value: p99.shadow, unit: "ms"),
      Measurement(name: "\(name).met", value: Double(met), unit: "calls", target: .atLeast(1)),
      Measurement(
        name: "\(name).wrong", value: Double(rounds.wrong), unit: "failed, or not Apple's", target: .below(1)),
    ]
  }
}
