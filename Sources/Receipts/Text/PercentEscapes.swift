import Signing

/// The escapes of URLs and forms, as `%2B`.
package enum PercentEscapes {
  /// Returns the text with its escapes decoded, incomplete ones left, or nil without escapes.
  package static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.contains(UInt8(ascii: "%")) else { return nil }
    var plain: [UInt8] = []
    plain.reserveCapacity(text.count)
    var index = text.startIndex
    while index < text.endIndex {
      if text[index] == UInt8(ascii: "%"), index + 2 < text.endIndex, let high = Hexadecimal.value(text[index + 1]),
        let low = Hexadecimal.value(text[index + 2])
      {
        plain.append(high << 4 | low)
        index += 3
      } else {
        plain.append(text[index])
        index += 1
      }
    }
    return plain.count == text.count ? nil : plain
  }
}
