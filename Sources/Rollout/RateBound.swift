/// How often something may happen at most, judging by how often it did.
///
/// One-sided and exact (Clopper and Pearson): with the stated confidence the true rate is not above the bound. It needs no
/// large numbers: of `n` customers without a single case the bound at 95 % is 1 − 0.05^(1/n), nearly 3/n.
package enum RateBound {
  /// The upper bound of the rate at this confidence, from 0 to 1; 1 where nothing was observed.
  package static func upper(cases: Int, of count: Int, confidence: Double = 0.95) -> Double {
    guard count > 0, cases < count else { return 1 }
    let tail = 1 - confidence
    var (low, high) = (Double(cases) / Double(count), 1.0)
    // The rate at which so few cases have just this probability; the probability falls with the rate.
    for _ in 0..<60 {
      let middle = (low + high) / 2
      if probability(ofAtMost: cases, of: count, at: middle) > tail { low = middle } else { high = middle }
    }
    return high
  }

  /// How many must be observed without a single case for the bound to be at most `bound`.
  package static func needed(for bound: Double, confidence: Double = 0.95) -> Int {
    guard bound > 0, bound < 1 else { return bound >= 1 ? 1 : .max }
    var (low, high) = (1, 1)
    while upper(cases: 0, of: high, confidence: confidence) > bound, high < 1 << 40 { high *= 2 }
    while low < high {
      let middle = (low + high) / 2
      if upper(cases: 0, of: middle, confidence: confidence) <= bound { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// With three decimals, rounded up: a bound never looks smaller than it is.
  package static func percent(_ rate: Double) -> String {
    let thousandths = Int((rate * 100_000).rounded(.up))
    let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1_000)
    let digits = String(rest + 1_000).dropFirst()
    return "\(whole).\(digits) %"
  }

  /// Of so many trials with this rate at most so many cases; each term from the one before, beginning at the largest.
  private static func probability(ofAtMost cases: Int, of count: Int, at rate: Double) -> Double {
    guard rate > 0 else { return 1 }
    guard rate < 1 else { return cases >= count ? 1 : 0 }
    let ratio = rate / (1 - rate)
    // Scaled, since the first term is too small for a Double when there are many trials.
    var (term, sum, scale) = (1.0, 1.0, Double(count) * log1(-rate))
    for number in stride(from: 1, through: cases, by: 1) {
      term *= Double(count - number + 1) / Double(number) * ratio
      sum += term
      if sum > 1e200 {
        (term, sum, scale) = (term / 1e200, sum / 1e200, scale + 460.517_018_598_809_1)
      }
    }
    return exponential(scale) * sum
  }

  /// ln(1 + x) for x between -1 and 0, without the C library.
  private static func log1(_ x: Double) -> Double {
    // ln(y) = 2 artanh((y - 1) / (y + 1)), with y brought near 1 by powers of two.
    var (y, twos) = (1 + x, 0.0)
    if x > -1e-4 { return x - x * x / 2 + x * x * x / 3 }
    while y < 0.75 { (y, twos) = (y * 2, twos - 1) }
    let z = (y - 1) / (y + 1)
    var (power, sum) = (z, z)
    for odd in stride(from: 3.0, through: 41, by: 2) {
      power *= z * z
      sum += power / odd
    }
    return 2 * sum + twos * 0.693_147_180_559_945_3
  }

  private static func exponential(_ x: Double) -> Double {
    guard x > -745 else { return 0 }
    let halvings = max(0, Int((abs(x)).rounded(.up)).bitWidth - Int((abs(x)).rounded(.up)).leadingZeroBitCount)
    var part = x
    for _ in 0..<halvings { part /= 2 }
    var (term, sum) = (1.0, 1.0)
    for number in 1...20 {
      term *= part / Double(number)
      sum += term
    }
    for _ in 0..<halvings { sum *= sum }
    return sum
  }
}
