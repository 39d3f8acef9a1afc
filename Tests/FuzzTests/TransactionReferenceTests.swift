import FuzzTargets
import Testing

@Suite("What the fuzzers begin with") struct TransactionReferenceTests {
  @Test(arguments: FuzzTarget.all.map(\.name)) func `keeps the rules of its target`(name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let seeds = try target.seeds()
    #expect(!seeds.isEmpty)
    for seed in seeds { try target.check(seed) }
  }
}
