/// Why bytes are no DER (or BER) to be read here.
package enum DERError: Error, Hashable, Sendable {
  /// They end before the element does.
  case truncated
  /// An element longer than what surrounds it, a tag or length of a form that nobody needs.
  case malformed
  /// Nested deeper than the limit.
  case tooDeep
  /// More elements than the limit.
  case tooMany
}

/// The bounds of what is read.
package struct DERLimits: Sendable {
  /// Levels of indefinite lengths and of octet strings within octet strings; Xcode's receipts have four.
  package var depth: Int
  /// Elements in all; a receipt of 2,000 purchases has some 160,000.
  package var count: Int

  package init(depth: Int = 12, count: Int = 1 << 20) {
    self.depth = depth
    self.count = count
  }

  package static let standard = Self()
}
