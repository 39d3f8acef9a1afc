@Suite struct `Shared work` {
  @Test func `is done once for all who want it at one time`() async {
    let work = SingleFlight<String, Int>()
    let runs = Tally()
    let gate = AsyncStream<Void>.makeStream()
    let first = Task {
      await work.value(of: "a") {
        for await _ in gate.stream {}
        return runs.add()
      }
    }
    #expect(await eventually { work.isUnderWay("a") })
    let others = (0..<10).map { _ in
      Task {
        await work.value(of: "a", where: { false }) {
          runs.add()
        }
      }
    }
    #expect(await work.value(of: "b", where: { false }) { 0 } == nil)
    gate.continuation.finish()
    #expect(await first.value == 1)
    // Whoever asks once it is done may begin it no more, or had what the first one found.
    for other in others { #expect([1, nil].contains(await other.value)) }
    #expect(runs.count == 1 && !work.isUnderWay("a"))
    #expect(await work.value(of: "a") { 7 } == 7)
  }
}
