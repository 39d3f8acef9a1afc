/// An ES256 signature in JOSE form: r and s, 32 bytes each, big-endian (RFC 7518 section 3.4).
package struct RawSignature: Sendable {
  package let bytes: [UInt8]

  /// Returns `nil` unless there are exactly 64 bytes; a DER-encoded signature is longer.
  package init?(bytes: [UInt8]) {
    guard bytes.count == Self.count else { return nil }
    self.bytes = bytes
  }

  package static let count = 64

  /// The DER form for OpenSSL: SEQUENCE { INTEGER r, INTEGER s }.
  package var der: [UInt8] {
    var der: [UInt8] = [0x30, 0]
    der.reserveCapacity(72)
    Self.append(integer: bytes[0..<32], to: &der)
    Self.append(integer: bytes[32..<64], to: &der)
    der[1] = UInt8(der.count - 2)
    return der
  }

  /// Reads OpenSSL's DER; `nil` for other bytes.
  init?(der: [UInt8]) {
    guard der.count >= 8, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
    var offset = 2
    guard let r = Self.integer(in: der, at: &offset), let s = Self.integer(in: der, at: &offset), offset == der.count
    else { return nil }
    bytes = r + s
  }

  private static func append(integer: ArraySlice<UInt8>, to der: inout [UInt8]) {
    let significant = integer.drop { $0 == 0 }
    let digits = significant.isEmpty ? integer.suffix(1) : significant
    let needsSign = (digits.first ?? 0) >= 0x80
    der.append(0x02)
    der.append(UInt8(digits.count + (needsSign ? 1 : 0)))
    if needsSign { der.append(0) }
    der += digits
  }

  private static func integer(in der: [UInt8], at offset: inout Int) -> [UInt8]? {
    guard offset + 2 <= der.count, der[offset] == 0x02 else { return nil }
    let count = Int(der[offset + 1])
    guard count > 0, offset + 2 + count <= der.count else { return nil }
    let digits = der[offset + 2..<offset + 2 + count].drop { $0 == 0 }
    guard digits.count <= 32 else { return nil }
    offset += 2 + count
    return [UInt8](repeating: 0, count: 32 - digits.count) + digits
  }
}
