@Suite(
  "The page of fidelity", .computesForLong,
  .enabled(if: Samples.directory != nil, "no ../shared/samples beside the project"))
struct FidelityPageTests {
  @Test func `docs/fidelity.md is what the tests see`() throws {
    var real: [String: Int] = [:]
    var pairs: [(name: String, report: FidelityReport)] = []
    for pair in RealPairs.all {
      let report = try #require(try RealPairs.report(pair, RealPairTests.composer))
      pairs.append((pair.answer, report))
      for (rule, count) in report.rules { real[rule, default: 0] += count }
    }
    let composer = try SimulatedTests.composer()
    var simulated = SimulatedComparison()
    for (environment, seed) in [(AppStoreEnvironment.sandbox, UInt64(7)), (.production, 11)] {
      try SimulatedCases(customers: 50, in: environment, seed: seed).forEach { sample in
        try simulated.add(sample, answered: composer.answer(sample.request, sample.facts))
      }
    }
    #expect(simulated.different == [])
    let page = FidelityPage(real: real, pairs: pairs, simulated: simulated).text
    if TestSize.writesDocuments { try ProjectFile.write(page, to: "docs/fidelity.md") }
    let isCurrent = try ProjectFile.text("docs/fidelity.md") == page
    #expect(isCurrent, "run: SWITCHYARD_WRITE_DOCS=1 swift test --filter FidelityPageTests")
  }
}
