extension Span<UInt8> {
  @inline(__always) func holdsOnly(_ accepted: (UInt8) -> Bool) -> Bool {
    for index in 0..<count where !accepted(self[index]) { return false }
    return true
  }
}

extension String {
  /// Creates a string of `bytes`; `nil` unless all of them are ASCII.
  init?(ascii bytes: Span<UInt8>) {
    guard bytes.holdsOnly({ $0 < 0x80 }) else { return nil }
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}

extension UInt8 {
  var isDigit: Bool { (0x30...0x39).contains(self) }
  var isCapital: Bool { (0x41...0x5A).contains(self) }
  var isLetter: Bool { isCapital || (0x61...0x7A).contains(self) }
  /// A space or a horizontal tab.
  var isBlank: Bool { self == 0x20 || self == 0x09 }

  /// Whether a token may contain it: RFC 9110, 5.6.2.
  var isTokenCharacter: Bool {
    switch self {
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x30...0x39, 0x41...0x5A, 0x5E...0x7A, 0x7C, 0x7E: true
    case _: false
    }
  }

  var hexadecimalValue: Int? {
    switch self {
    case 0x30...0x39: Int(self) - 0x30
    case 0x41...0x46: Int(self) - 0x41 + 10
    case 0x61...0x66: Int(self) - 0x61 + 10
    case _: nil
    }
  }
}
