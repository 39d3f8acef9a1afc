/// A number that is not a plain 64-bit integer, kept as written: `1697679936049.7297`, `1e3`, `-0`.
public struct JSONNumber: Hashable, Sendable {
  public let text: String

  /// The caller promises that `text` follows JSON's grammar of numbers; only the reader makes these.
  init(text: String) { self.text = text }

  /// The nearest `Double`; nil when it is out of a `Double`'s range.
  public var double: Double? {
    guard let value = Double(text), value.isFinite else { return nil }
    return value
  }

  /// The value when it is whole (`1.0`, `1e3`); nil for fractions and for what exceeds 64 bits.
  ///
  /// From the digits themselves: by way of a `Double`, 9007199254740993.0 would lose its last one.
  public var integer: Int64? {
    let decimal = Decimal(text)
    return decimal.fraction.allSatisfy { $0 == 0 } ? decimal.truncated : nil
  }

  /// The value rounded to the nearest whole number, halves away from zero; nil when it exceeds 64 bits.
  public var rounded: Int64? {
    let decimal = Decimal(text)
    guard let truncated = decimal.truncated else { return nil }
    guard let tenths = decimal.fraction.first, tenths >= 5 else { return truncated }
    let (value, overflow) = truncated.addingReportingOverflow(decimal.isNegative ? -1 : 1)
    return overflow ? nil : value
  }
}

/// The digits of a number and where its point stands after the exponent is applied.
private struct Decimal {
  private(set) var isNegative = false
  /// Without leading zeros.
  private var digits: [UInt8] = []
  /// How many of the digits, or of the zeros that follow them, stand before the point; negative when zeros follow it.
  private var point = 0

  init(_ text: String) {
    var isFraction = false
    var characters = text.utf8.makeIterator()
    while let character = characters.next() {
      switch character {
      case UInt8(ascii: "-"): isNegative = true
      case UInt8(ascii: "."): isFraction = true
      case UInt8(ascii: "e"), UInt8(ascii: "E"):
        point += Self.exponent(&characters)
      default:
        let digit = character - UInt8(ascii: "0")
        if digit != 0 || !digits.isEmpty {
          digits.append(digit)
          point += isFraction ? 0 : 1
        } else if isFraction {
          point -= 1
        }
      }
    }
  }

  /// The whole part; nil when it exceeds 64 bits.
  var truncated: Int64? {
    // Nineteen digits may fit; no number that is not zero has more.
    guard point <= 19 || digits.isEmpty else { return nil }
    var value: Int64 = 0
    for place in 0..<max(0, min(point, 19)) {
      let digit = Int64(place < digits.count ? digits[place] : 0)
      let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, stillTooLarge) = product.addingReportingOverflow(isNegative ? -digit : digit)
      if tooLarge || stillTooLarge { return nil }
      value = sum
    }
    return value
  }

  /// The digits after the point, as far as the first of them that tells how to round.
  var fraction: [UInt8] {
    if digits.isEmpty { return [] }
    return point < 0 ? [0] + digits : Array(digits.dropFirst(point))
  }

  /// The exponent, cut where any 64-bit whole number is long exceeded.
  private static func exponent(_ characters: inout String.UTF8View.Iterator) -> Int {
    var isNegative = false
    var value = 0
    while let character = characters.next() {
      switch character {
      case UInt8(ascii: "-"): isNegative = true
      case UInt8(ascii: "+"): break
      default: value = min(value * 10 + Int(character - UInt8(ascii: "0")), 1 << 32)
      }
    }
    return isNegative ? -value : value
  }
}
