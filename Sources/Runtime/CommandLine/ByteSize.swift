/// A number of bytes as operators write it: `512M`, `2G`, `1073741824`.
package struct ByteSize: Sendable, Equatable, Comparable, CustomStringConvertible {
  package let bytes: Int

  package init(_ bytes: Int) { self.bytes = bytes }

  /// A whole number, followed by K, M, G or T (powers of 1,024, in either case, with or without `B` or `iB`); nil for
  /// anything else.
  package init?(_ text: String) {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let number = Int(digits) else { return nil }
    let shift: Int
    switch text.dropFirst(digits.count).uppercased() {
    case "", "B": shift = 0
    case "K", "KB", "KIB": shift = 10
    case "M", "MB", "MIB": shift = 20
    case "G", "GB", "GIB": shift = 30
    case "T", "TB", "TIB": shift = 40
    default: return nil
    }
    let (product, isTooLarge) = number.multipliedReportingOverflow(by: 1 << shift)
    guard !isTooLarge else { return nil }
    bytes = product
  }

  package static func < (first: Self, second: Self) -> Bool { first.bytes < second.bytes }

  /// The same size as an operator can type it: `1536M`, never `1.5G`.
  package var exact: String {
    for (shift, unit) in [(40, "T"), (30, "G"), (20, "M"), (10, "K")] where bytes > 0 && bytes % (1 << shift) == 0 {
      return "\(bytes >> shift)\(unit)"
    }
    return "\(bytes)"
  }

  /// For people, rounded to a tenth: `512M`, `1.5G`.
  package var description: String {
    for (shift, unit) in [(40, "T"), (30, "G"), (20, "M")] where bytes >= 1 << shift {
      let tenths = (Double(bytes) / Double(1 << shift) * 10).rounded() / 10
      return tenths == tenths.rounded() ? "\(Int(tenths))\(unit)" : "\(tenths)\(unit)"
    }
    return "\(bytes >> 10)K"
  }
}

extension ParsedArguments {
  /// The value as a number of bytes.
  package func size(_ name: String, in range: ClosedRange<ByteSize>) throws(UsageError) -> ByteSize? {
    guard let text = value(name) else { return nil }
    if let size = ByteSize(text), range.contains(size) { return size }
    throw UsageError(
      .invalidValue,
      "--\(name) takes a size from \(range.lowerBound) to \(range.upperBound), as 512M or 2G, not "
        + "\(UsageError.shown(text)).", path: path)
  }
}
