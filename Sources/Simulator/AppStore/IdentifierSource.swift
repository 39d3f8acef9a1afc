package import Signing

/// A source of unique IDs in Apple's format within one seed and environment.
///
/// Each life has its own source, so that lives can be made in any order and in parallel.
package struct IdentifierSource: Hashable, Sendable {
  /// The size of the number range that holds the IDs of one life.
  private static let span: Int64 = 10_000
  /// The step between two IDs, larger than one so that they do not look counted.
  private static let step: Int64 = 37

  package var random: SplitMix64
  private let first: Int64
  private var count: Int64 = 0

  /// - Parameter life: below 100,000,000.
  package init(environment: AppStoreEnvironment, seed: UInt64, life: Int) {
    precondition((0..<100_000_000).contains(life), "no ids for life \(life)")
    random = SplitMix64(seed: seed, part: life)
    var namespace = SplitMix64(seed: seed)
    // Production's IDs have 15 digits, the others' 16 and begin with 2, as in payloads of 2021 to 2026.
    let base: Int64 =
      switch environment {
      case .production: 100_000_000_000_000
      case .sandbox, .xcode, .localTesting: 2_000_000_000_000_000
      }
    first = base + Int64(namespace.number(in: 0..<800)) * 1_000_000_000_000 + Int64(life) * Self.span
  }

  package mutating func transactionID() -> String { String(next()) }

  package mutating func webOrderLineItemID() -> String { String(next()) }

  /// Creates an `appTransactionId` of 18 digits.
  package mutating func appTransactionID() -> String { String(700_000_000_000_000_000 + next()) }

  package mutating func uuid() -> String { random.uuid() }

  private mutating func next() -> Int64 {
    precondition((count + 1) * Self.step <= Self.span, "a life of more than \(Self.span / Self.step) ids")
    defer { count += 1 }
    return first + count * Self.step + Int64(random.number(in: 0..<Int(Self.step)))
  }
}
