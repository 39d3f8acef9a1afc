import Glibc

/// How often something may happen at most, judging by how often it did.
///
/// One-sided and exact (Clopper and Pearson): with the stated confidence the true rate is not above the bound. It needs no
/// large numbers: of `n` customers without a single case the bound at 95 % is 1 − 0.05^(1/n), nearly 3/n.
package enum ConfidenceBound {
  /// The upper bound of the rate at this confidence, from 0 to 1; 1 where nothing was observed.
  package static func upper(cases: Int, of count: Int, confidence: Double = 0.95) -> Double {
    guard count > 0, cases < count else { return 1 }
    var (low, high) = (Double(cases) / Double(count), 1.0)
    // The rate at which so few cases have just this probability; the probability falls with the rate.
    for _ in 0..<60 {
      let middle = (low + high) / 2
      if probability(ofAtMost: cases, of: count, at: middle) > 1 - confidence { low = middle } else { high = middle }
    }
    return high
  }

  /// How many must be observed without a single case for the bound to be at most `bound`.
  package static func needed(for bound: Double, confidence: Double = 0.95) -> Int {
    guard bound > 0, bound < 1 else { return bound >= 1 ? 1 : .max }
    return Int(exactly: (log(1 - confidence) / log1p(-bound)).rounded(.up)) ?? .max
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
    guard rate < 1 else { return 0 }
    let ratio = rate / (1 - rate)
    // Scaled, since the first term is too small for a Double when there are many trials.
    var (term, sum, scale) = (1.0, 1.0, Double(count) * log1p(-rate))
    for number in stride(from: 1, through: cases, by: 1) {
      term *= Double(count - number + 1) / Double(number) * ratio
      sum += term
      if sum > 1e200 { (term, sum, scale) = (term / 1e200, sum / 1e200, scale + log(1e200)) }
    }
    return exp(scale) * sum
  }
}
