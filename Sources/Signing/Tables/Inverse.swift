/// A number below 2^256 in four words, lowest first, and its inverse modulo the order of P-256.
///
/// OpenSSL inverts any number modulo any other in 15 µs, a third of a verification by table. With the modulus known it
/// takes a third of that. Nothing here is secret, so the time may depend on the numbers.
struct Inverse {
  private var a, b, c, d: UInt64

  private init(_ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64) { (self.a, self.b, self.c, self.d) = (a, b, c, d) }

  /// n.
  private static let order = Self(
    0xF3B9_CAC2_FC63_2551, 0xBCE6_FAAD_A717_9E84, 0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF_0000_0000)
  /// -1/n modulo 2^64.
  private static let negatedInverseOfOrder: UInt64 = 0xCCD1_C8AA_EE00_BC4F

  /// Computes 1 / `number` modulo n; `number` has 32 bytes, highest first, and is at least 1 and below n.
  init(of number: ArraySlice<UInt8>) {
    var words = Self(0, 0, 0, 0)
    for byte in number { words.append(byte) }
    self = words.inverse
  }

  /// 32 bytes, highest first.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(32)
    for word in [d, c, b, a] {
      for shift: UInt64 in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word &>> shift))
      }
    }
    return bytes
  }

  private mutating func append(_ byte: UInt8) {
    d = d &<< 8 | c &>> 56
    c = c &<< 8 | b &>> 56
    b = b &<< 8 | a &>> 56
    a = a &<< 8 | UInt64(byte)
  }

  /// Euclid's algorithm by subtractions and halvings (Stein's).
  ///
  /// Invariants: u ≡ x · number and v ≡ y · number, and v is odd. u and v have no common divisor; when u is 0, v is 1.
  private var inverse: Self {
    var (u, v) = (self, Self.order)
    var (x, y) = (Self(1, 0, 0, 0), Self(0, 0, 0, 0))
    while !u.isZero {
      while u.a & 1 == 0 {
        let twos = UInt64(min(63, u.a.trailingZeroBitCount))
        u.halve(twos, carry: 0)
        x.halveModulo(twos)
      }
      var difference = u
      if difference.subtract(v) {
        (u, v) = (v, u)
        (x, y) = (y, x)
        difference = u
        _ = difference.subtract(v)
      }
      u = difference
      if x.subtract(y) { x.addOrder() }
    }
    return y
  }

  private var isZero: Bool { a | b | c | d == 0 }

  /// Returns whether it was less, and 2^256 was added.
  private mutating func subtract(_ other: Self) -> Bool {
    var borrow: UInt64 = 0
    func word(_ word: UInt64, _ other: UInt64) -> UInt64 {
      let first = word.subtractingReportingOverflow(other)
      let second = first.partialValue.subtractingReportingOverflow(borrow)
      borrow = (first.overflow ? 1 : 0) | (second.overflow ? 1 : 0)
      return second.partialValue
    }
    a = word(a, other.a)
    b = word(b, other.b)
    c = word(c, other.c)
    d = word(d, other.d)
    return borrow == 1
  }

  private mutating func addOrder() {
    var sum = UInt128(a) &+ UInt128(Self.order.a)
    a = UInt64(truncatingIfNeeded: sum)
    sum = UInt128(b) &+ UInt128(Self.order.b) &+ (sum &>> 64)
    b = UInt64(truncatingIfNeeded: sum)
    sum = UInt128(c) &+ UInt128(Self.order.c) &+ (sum &>> 64)
    c = UInt64(truncatingIfNeeded: sum)
    d = d &+ Self.order.d &+ UInt64(truncatingIfNeeded: sum &>> 64)
  }

  /// Divides by 2 `times` times, 63 at most; `carry` are the bits above.
  private mutating func halve(_ times: UInt64, carry: UInt64) {
    let rest = 64 &- times
    a = a &>> times | b &<< rest
    b = b &>> times | c &<< rest
    c = c &>> times | d &<< rest
    d = d &>> times | carry &<< rest
  }

  /// Divides modulo n: adds multiples of n before, so that the lowest bits become 0 (Montgomery's).
  private mutating func halveModulo(_ times: UInt64) {
    let order = Self.order
    let factor = UInt128(a &* Self.negatedInverseOfOrder & (1 &<< times &- 1))
    var sum = UInt128(a) &+ factor &* UInt128(order.a)
    a = UInt64(truncatingIfNeeded: sum)
    sum = UInt128(b) &+ factor &* UInt128(order.b) &+ (sum &>> 64)
    b = UInt64(truncatingIfNeeded: sum)
    sum = UInt128(c) &+ factor &* UInt128(order.c) &+ (sum &>> 64)
    c = UInt64(truncatingIfNeeded: sum)
    sum = UInt128(d) &+ factor &* UInt128(order.d) &+ (sum &>> 64)
    d = UInt64(truncatingIfNeeded: sum)
    halve(times, carry: UInt64(truncatingIfNeeded: sum &>> 64))
  }
}
