/// Keys and signatures of P-256 at the edges, each worked out from the curve's numbers.
enum CurveSamples {
  /// n, how many points there are.
  static let order = "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551"
  /// p, below which coordinates are.
  static let field = "FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF"
  /// The x of G, of 2 · G, and the first of a point that is not below n: n + 3.
  static let x1 = "6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296"
  static let x2 = "7CF27B188D034F7E8A52380304B51AC3C08969E277F21B35A60B48FC47669978"
  static let highX = "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632554"

  /// G itself, whose private half is 1; -G, whose private half is n - 1 (the y of G is odd); and a point of that high x.
  static let generator = "03" + x1
  static let opposite = "02" + x1
  static let high = "02" + highX

  /// The number `steps` above (or below) one of 64 hexadecimal digits.
  static func number(_ hex: String, _ steps: Int = 0) -> [UInt8] {
    var bytes = bytes(hex)
    for _ in 0..<steps.magnitude {
      for index in bytes.indices.reversed() {
        bytes[index] = steps > 0 ? bytes[index] &+ 1 : bytes[index] &- 1
        if bytes[index] != (steps > 0 ? 0 : 255) { break }
      }
    }
    return bytes
  }

  /// A small number as 32 bytes.
  static func number(_ small: UInt8) -> [UInt8] { [UInt8](repeating: 0, count: 31) + [small] }

  /// The key at a point that is written as X9.62 does.
  static func key(_ point: String) throws -> PublicKey {
    let point = bytes(point)
    let algorithm: [UInt8] = bytes("301306072A8648CE3D020106082A8648CE3D030107")
    let count = UInt8(point.count)
    return try PublicKey(der: [0x30, count + 24] + algorithm + [0x03, count + 1, 0] + point)
  }

  static func signature(_ r: [UInt8], _ s: [UInt8]) -> RawSignature {
    guard let signature = RawSignature(bytes: r + s) else { preconditionFailure("r and s have 32 bytes each") }
    return signature
  }

  /// n - `number`.
  static func opposite(of number: [UInt8]) -> [UInt8] {
    var opposite = bytes(order)
    var borrow = 0
    for index in opposite.indices.reversed() {
      let difference = Int(opposite[index]) - Int(number[index]) - borrow
      borrow = difference < 0 ? 1 : 0
      opposite[index] = UInt8(truncatingIfNeeded: difference)
    }
    return opposite
  }

  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap { $0.hexDigitValue.map(UInt8.init) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}

extension RawSignature {
  /// The same with one of its 512 bits changed.
  func changed(bit: Int) -> RawSignature {
    var bytes = bytes
    bytes[bit / 8 % bytes.count] ^= 1 << UInt8(bit % 8)
    return RawSignature(bytes: bytes) ?? self
  }
}
