/// `%2B` in a text, as URLs and forms write what is no letter.
package enum PercentEscapes {
  /// The text without its escapes, nil when there are none; what is no whole escape stays.
  package static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.contains(UInt8(ascii: "%")) else { return nil }
    var plain: [UInt8] = []
    plain.reserveCapacity(text.count)
    var index = text.startIndex
    while index < text.endIndex {
      if text[index] == UInt8(ascii: "%"), index + 2 < text.endIndex, let high = hexadecimal(text[index + 1]),
        let low = hexadecimal(text[index + 2])
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

  /// The value of a hexadecimal digit in either case.
  package static func hexadecimal(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
