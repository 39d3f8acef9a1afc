import Rollout
import Testing

@Suite struct `The guard` {
  @Test(arguments: [
    (99, 99, GuardRule.Verdict.held), (0, 0, .held), (100, 0, .sound), (100, 1, .sound), (100, 2, .breached),
    (10_000, 100, .sound), (10_000, 101, .breached), (100, 5, .breached),
  ])
  func `decides with enough customers alone`(customers: Int, affected: Int, verdict: GuardRule.Verdict) {
    #expect(GuardRule().verdict(customers: customers, affected: affected) == verdict)
  }
}
