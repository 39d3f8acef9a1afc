package import Signing

/// A prefix of a digest, copied from a list.
package struct DigestPrefix: Hashable, Sendable {
  package let text: String
  /// The whole bytes.
  ///
  /// An odd last digit is compared as text.
  package let bytes: [UInt8]

  /// Returns `nil` unless the text has `minimum` to 64 hexadecimal digits.
  package init?(_ text: String, minimum: Int = 4) {
    let digits = text.lowercased()
    let isEven = digits.utf8.count.isMultiple(of: 2)
    let whole = isEven ? digits : String(digits.dropLast())
    guard (minimum...Digest.count * 2).contains(digits.utf8.count),
      digits.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) })
    else { return nil }
    self.text = digits
    bytes = stride(from: 0, to: whole.utf8.count, by: 2).map { start in
      whole.utf8.dropFirst(start).prefix(2).reduce(0) { $0 << 4 | Self.value($1) }
    }
  }

  package func matches(_ digest: Digest) -> Bool { digest.hex.hasPrefix(text) }

  private static func value(_ digit: UInt8) -> UInt8 {
    digit <= UInt8(ascii: "9") ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10
  }
}
