/// A repeatable random generator, SplitMix64 (Steele, Lea, Flood 2014).
///
/// Never for secrets. The standard library may change how it draws from a generator, so this type draws from ranges
/// itself.
package struct SplitMix64: RandomNumberGenerator, Hashable, Sendable {
  private static let gamma: UInt64 = 0x9E37_79B9_7F4A_7C15
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// Creates an independent generator for one part of a seed, so that parts can be made in any order.
  package init(seed: UInt64, part: Int) {
    state = Self.mixed(seed &+ Self.gamma) ^ Self.mixed(UInt64(truncatingIfNeeded: part) &* Self.gamma &+ 1)
  }

  package mutating func next() -> UInt64 {
    state &+= Self.gamma
    return Self.mixed(state)
  }

  /// Returns a number of the range.
  ///
  /// Ranges here are too small for the bias of a remainder to matter.
  package mutating func number(in range: Range<Int>) -> Int {
    range.lowerBound + Int(next() % UInt64(range.count))
  }

  /// Returns true in `percent` of a hundred cases.
  package mutating func chance(_ percent: Int) -> Bool { number(in: 0..<100) < percent }

  package mutating func element<Element>(of elements: [Element]) -> Element {
    elements[number(in: 0..<elements.count)]
  }

  /// Returns a version 4 UUID in lower case, as Apple writes them.
  package mutating func uuid() -> String {
    let (high, low) = (next() & ~0xF000 | 0x4000, next() & ~(0b11 << 62) | 0b10 << 62)
    let digits = (hexadecimal(high) + hexadecimal(low)).utf8
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { text.append(UInt8(ascii: "-")) }
      text.append(digit)
    }
    return String(decoding: text, as: UTF8.self)
  }

  private func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  private static func mixed(_ number: UInt64) -> UInt64 {
    var bits = number
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return bits ^ bits >> 31
  }
}
