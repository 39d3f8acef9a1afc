/// Half of a round: a load in one stage, and what the service says of it.
struct ShadowHalf: Sendable {
  let load: LoadReport
  let counts: ShadowCounts

  var p99: Double { load.milliseconds(0.99) }
  /// Requests that failed, and answers that were not Apple's.
  var wrong: Int { load.failures + max(0, load.acknowledged - counts.ofApple) }
}

/// Rounds of two halves, `record` and `shadow`, of which now the one comes first and now the other.
struct ShadowRounds: Sendable {
  static let count = 5

  private(set) var record: [ShadowHalf] = []
  private(set) var shadow: [ShadowHalf] = []

  init(_ half: (_ isShadow: Bool) async throws -> ShadowHalf) async throws {
    for round in 0..<Self.count {
      for isShadow in round.isMultiple(of: 2) ? [false, true] : [true, false] {
        let measured = try await half(isShadow)
        if isShadow { shadow.append(measured) } else { record.append(measured) }
      }
    }
  }

  /// The median of the rounds' ratios, the figure of `shadow` by that of `record`.
  func ratio(_ figure: (ShadowHalf) -> Double) -> Double {
    Rounds.median(zip(record, shadow).map { figure($1) / figure($0) })
  }

  func medians(_ figure: (ShadowHalf) -> Double) -> (record: Double, shadow: Double) {
    (Rounds.median(record.map(figure)), Rounds.median(shadow.map(figure)))
  }

  var wrong: Int { (record + shadow).reduce(0) { $0 + $1.wrong } }
}
