/// Where a customer stands among all customers of an app: one of 10,000 buckets.
///
/// A ramp of N % is the buckets below N × 100, so a larger ramp holds every smaller one. A customer's bucket is kept at the
/// first decision; of customers that turn out to be one, the smaller bucket stays, so a join only ever lets customers in.
///
/// The hash is frozen: the first 8 bytes of the SHA-256 of `switchyard bucket 1`, the salt, the app's bundle id and the
/// customer's name, each on a line of its own and without a last line end, as a number (the first byte is the highest),
/// modulo 10,000. With the salt `salt`, the app `com.example.app` and the customer `1000000000000001` it is 9,070:
///
///     printf 'switchyard bucket 1\nsalt\ncom.example.app\n1000000000000001' | sha256sum
package struct Bucket: Hashable, Sendable, Comparable {
  package static let count = 10_000

  /// 0 to 9,999.
  package let number: Int

  /// Nil for a number that no bucket has.
  package init?(number: Int) {
    guard (0..<Self.count).contains(number) else { return nil }
    self.number = number
  }

  /// The bucket that a SHA-256 of `message` falls into.
  package init(digest: some Collection<UInt8>) {
    let value = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    number = Int(value % UInt64(Self.count))
  }

  /// What is hashed.
  ///
  /// - Parameter customer: the smallest originalTransactionId of the customer that was known at the first decision.
  package static func message(salt: String, app: String, customer: String) -> [UInt8] {
    Array("switchyard bucket 1\n\(salt)\n\(app)\n\(customer)".utf8)
  }

  package static func < (a: Self, b: Self) -> Bool { a.number < b.number }
}

/// How many of an app's customers get our answers in the stage `ramp`.
package struct RampPercentage: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// Hundredths of a percent, 0 to 10,000.
  package let hundredths: Int

  /// Nil outside of 0 to 10,000.
  package init?(hundredths: Int) {
    guard (0...Bucket.count).contains(hundredths) else { return nil }
    self.hundredths = hundredths
  }

  /// Reads `12.5`, with two digits after the point at most and a percent sign or none; nil for anything else.
  package init?(_ text: String) {
    let number = text.hasSuffix("%") ? text.dropLast() : text[...]
    let parts = number.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let whole = parts.first, !whole.isEmpty, whole.allSatisfy(Self.isDigit),
      let percent = Int(whole)
    else { return nil }
    let fraction = parts.count == 2 ? parts[1] : ""
    guard parts.count == 1 || (1...2).contains(fraction.count), fraction.allSatisfy(Self.isDigit),
      let rest = Int(fraction + String(repeating: "0", count: 2 - fraction.count)), percent <= 100
    else { return nil }
    self.init(hundredths: percent * 100 + rest)
  }

  private static func isDigit(_ letter: Character) -> Bool { letter.isASCII && letter.isNumber }

  package func contains(_ bucket: Bucket) -> Bool { bucket.number < hundredths }

  /// `12.5 %`.
  package var description: String {
    let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    if rest == 0 { return "\(whole) %" }
    return rest % 10 == 0 ? "\(whole).\(rest / 10) %" : "\(whole).\(rest < 10 ? "0" : "")\(rest) %"
  }

  package static func < (a: Self, b: Self) -> Bool { a.hundredths < b.hundredths }
}
