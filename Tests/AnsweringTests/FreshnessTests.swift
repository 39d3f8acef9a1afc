@Suite struct `What is known of a customer` {
  private static let now = Timestamp(1_780_000_000_000)

  /// All that is needed for an answer, of a history that was asked for `days` ago.
  private static func fresh(days: Int64 = 10) -> FreshnessInputs {
    FreshnessInputs(
      ids: ["1"], histories: ["1": now - .days(days)], receiptMade: now - .days(days + 1),
      flow: NotificationHealth(lastHeard: now - .hours(24), comparedUntil: now - .hours(20)))
  }

  /// What is changed, and what follows.
  private static let cases: [(String, @Sendable (inout FreshnessInputs) -> Void, [StalenessReason])] = [
    ("nothing", { _ in }, []),
    ("no purchase", { $0.ids = [] }, [.noPurchases]),
    ("an id was never asked about", { $0.ids = ["1", "2"] }, [.noHistory("2")]),
    ("no history at all", { $0.histories = [:] }, [.noHistory("1")]),
    (
      "Apple knows no such id beside a known one",
      {
        $0.ids = ["1", "2"]; $0.unknown = ["2": now]
      }, []
    ),
    (
      "Apple knows no such id, and nothing else",
      {
        $0.histories = [:]; $0.unknown = ["1": now]
      }, [.noHistory("1")]
    ),
    (
      "Apple knows no such id any more",
      {
        $0.histories = [:]; $0.unknown = ["1": now]; $0.isForgotten = true; $0.unknownLines = [("9", "1")]
      }, []
    ),
    (
      "Apple knew no such id before the receipt was made",
      {
        $0.histories = [:]; $0.unknown = ["1": now - .days(12)]; $0.isForgotten = true; $0.unknownLines = [("9", "1")]
      }, [.unknownLine("9")]
    ),
    (
      "a line that came after the history",
      {
        $0.unknownLines = [("9", "1")]; $0.receiptMade = now - .days(9)
      }, [.unknownLine("9")]
    ),
    ("a line for which V2 has no word", { $0.unknownLines = [("9", "1")] }, []),
    (
      "a line of a moment before the history",
      {
        $0.unknownLines = [("9", "1")]; $0.receiptMade = now - .days(10) - .seconds(30)
      }, [.unknownLine("9")]
    ),
    ("a linked id that no history held", { $0.unheld = ["3"] }, [.notHeld("3")]),
    ("a look-up is open", { $0.hasOpenLookUp = true }, [.lookUpOpen]),
    ("silent past its renewal", { $0.silent = ["1"] }, [.silent("1")]),
    (
      "silent although the history is new",
      {
        $0.silent = ["1"]; $0.histories = ["1": now - .minutes(1)]
      }, [.silent("1")]
    ),
    ("no news ever", { $0.flow.lastHeard = nil }, [.noNews]),
    ("news of 25 hours ago", { $0.flow.lastHeard = now - .hours(25) }, []),
    ("no news for longer", { $0.flow.lastHeard = now - .hours(25) - .milliseconds(1) }, [.noNews]),
    ("a heartbeat did not come back", { $0.flow.lostSince = now - .hours(1) }, [.newsLost]),
    ("a day before the history had gaps", { $0.flow.gapsEndedAt = now - .days(10) }, []),
    ("a day since had gaps", { $0.flow.gapsEndedAt = now - .days(10) + .milliseconds(1) }, [.gapSinceHistory]),
    ("never compared", { $0.flow.comparedUntil = nil }, [.notCompared]),
    ("compared long ago", { $0.flow.comparedUntil = now - .hours(50) }, [.notCompared]),
    (
      "nothing flows, and the history is 15 minutes old",
      {
        $0.flow = NotificationHealth(lostSince: now); $0.histories = ["1": now - .minutes(15)]
      }, []
    ),
    (
      "nothing flows, and it is older",
      {
        $0.flow = NotificationHealth(); $0.histories = ["1": now - .minutes(15) - .milliseconds(1)]
      }, [.noNews]
    ),
    (
      "the oldest history of the account counts",
      {
        $0.flow = NotificationHealth(); $0.histories = ["1": now, "2": now - .hours(1)]
      }, [.noNews]
    ),
  ]

  @Test(arguments: cases.indices) func `is all there is, or the reason is told`(place: Int) {
    let (name, change, expected) = Self.cases[place]
    var evidence = Self.fresh()
    change(&evidence)
    #expect(Freshness.reasons(evidence, at: Self.now) == expected, "\(name)")
  }
}
