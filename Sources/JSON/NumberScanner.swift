/// JSON's grammar of numbers as a state machine, with the value of a plain integer on the way.
struct NumberScanner {
  enum End { case integer(Int64), other }

  private enum State { case start, minus, zero, digits, point, fraction, e, sign, exponent }

  private var state = State.start
  private var isNegative = false
  /// Kept negative, since Int64.min has no positive counterpart; nil once it does not fit.
  private var value: Int64? = 0

  /// Whether `byte` continues the number.
  mutating func takes(_ byte: UInt8) -> Bool {
    switch (state, byte) {
    case (.start, UInt8(ascii: "-")):
      state = .minus
      isNegative = true
    case (.start, UInt8(ascii: "0")), (.minus, UInt8(ascii: "0")): state = .zero
    case (.start, UInt8(ascii: "1")...UInt8(ascii: "9")), (.minus, UInt8(ascii: "1")...UInt8(ascii: "9")),
      (.digits, UInt8(ascii: "0")...UInt8(ascii: "9")):
      state = .digits
      add(digit: byte - UInt8(ascii: "0"))
    case (.zero, UInt8(ascii: ".")), (.digits, UInt8(ascii: ".")): state = .point
    case (.point, UInt8(ascii: "0")...UInt8(ascii: "9")), (.fraction, UInt8(ascii: "0")...UInt8(ascii: "9")):
      state = .fraction
    case (.zero, UInt8(ascii: "e")), (.zero, UInt8(ascii: "E")), (.digits, UInt8(ascii: "e")),
      (.digits, UInt8(ascii: "E")), (.fraction, UInt8(ascii: "e")), (.fraction, UInt8(ascii: "E")):
      state = .e
    case (.e, UInt8(ascii: "+")), (.e, UInt8(ascii: "-")): state = .sign
    case (.e, UInt8(ascii: "0")...UInt8(ascii: "9")), (.sign, UInt8(ascii: "0")...UInt8(ascii: "9")),
      (.exponent, UInt8(ascii: "0")...UInt8(ascii: "9")):
      state = .exponent
    default: return false
    }
    return true
  }

  /// What the bytes so far amount to; nil when they are no number.
  var end: End? {
    switch state {
    case .start, .minus, .point, .e, .sign: nil
    case .zero: isNegative ? .other : .integer(0)
    case .digits: integer.map(End.integer) ?? .other
    case .fraction, .exponent: .other
    }
  }

  private var integer: Int64? {
    guard let value else { return nil }
    if isNegative { return value }
    return value == .min ? nil : -value
  }

  private mutating func add(digit: UInt8) {
    guard let old = value else { return }
    let (product, tooLarge) = old.multipliedReportingOverflow(by: 10)
    let (sum, stillTooLarge) = product.subtractingReportingOverflow(Int64(digit))
    value = tooLarge || stillTooLarge ? nil : sum
  }
}
