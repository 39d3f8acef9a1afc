@Suite struct `An upper bound of a rate` {
  /// Clopper and Pearson's one-sided bounds at 95 %, from tables.
  @Test(arguments: [
    (0, 10, 0.2589), (0, 100, 0.02951), (0, 2_994, 0.0010), (1, 100, 0.04656), (5, 100, 0.10225), (3, 10, 0.60662),
    (50, 100, 0.58638), (30, 30_000, 0.0013561),
  ])
  func `is the exact one`(cases: Int, count: Int, bound: Double) {
    let found = ConfidenceBound.upper(cases: cases, of: count)
    #expect(abs(found - bound) < bound * 0.01, "\(found)")
  }

  @Test func `is 1 without any observation, or when everything is a case`() {
    #expect(ConfidenceBound.upper(cases: 0, of: 0) == 1)
    #expect(ConfidenceBound.upper(cases: 7, of: 7) == 1)
  }

  @Test func `falls with every customer, and grows with every case`() {
    var last = 1.0
    for count in [1, 2, 10, 1_000, 100_000, 5_000_000] {
      let bound = ConfidenceBound.upper(cases: 0, of: count)
      #expect(bound < last && bound > 0)
      #expect(ConfidenceBound.upper(cases: 1, of: count) > bound)
      last = bound
    }
  }

  @Test(arguments: [(0.001, 2_995), (0.01, 299), (0.05, 59), (0.5, 5)])
  func `says how many customers it takes`(bound: Double, count: Int) {
    #expect(ConfidenceBound.needed(for: bound) == count)
  }
}
