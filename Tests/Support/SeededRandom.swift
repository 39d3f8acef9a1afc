import Glibc

/// Random numbers that a failing test can ask for again: print `seed`, then begin with it.
///
/// `scripts/check` sets `SWITCHYARD_TEST_SEED`, so that it sees the same numbers each time: what other ones find is for
/// `scripts/soak seeds`, not for whoever changed something else.
///
/// SplitMix64 (Steele, Lea, Flood 2014).
package struct SeededRandom: RandomNumberGenerator {
  package let seed: UInt64
  private var state: UInt64

  package init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  /// Begins with `SWITCHYARD_TEST_SEED`; with a random number where it is not set.
  package init() {
    let chosen = unsafe getenv("SWITCHYARD_TEST_SEED").flatMap { unsafe UInt64(String(cString: $0)) }
    self.init(seed: chosen ?? .random(in: .min ... .max))
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return bits ^ bits >> 31
  }
}
