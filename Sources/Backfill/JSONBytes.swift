import JSON
import Time

/// JSON written straight into bytes: a row has some sixty members, and a tree of them would cost more than its proof.
extension [UInt8] {
  mutating func append(_ text: String) { append(contentsOf: text.utf8) }

  /// Quoted and escaped; null for nil.
  mutating func append(json text: String?) {
    if let text { JSONValue.append(string: text, to: &self) } else { append("null") }
  }

  mutating func append(json flag: Bool?) {
    switch flag {
    case true?: append("true")
    case false?: append("false")
    case nil: append("null")
    }
  }

  mutating func append(json date: Timestamp?) { append(json: date?.sinceEpoch) }

  mutating func append(json number: Int64?) {
    guard let number else { return append("null") }
    append(number: number)
  }

  mutating func append(number: Int64) {
    if number < 0 { append(UInt8(ascii: "-")) }
    let start = count
    var rest = number.magnitude
    repeat {
      append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    var (low, high) = (start, count - 1)
    while low < high {
      swapAt(low, high)
      low += 1
      high -= 1
    }
  }
}
