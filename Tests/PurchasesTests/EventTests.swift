@Suite struct `Events` {
  @Test(
    arguments: [
      ("another type", told(type: "EXPIRED"), 2), ("another subtype", told(subtype: "BILLING_RECOVERY"), 2),
      ("another line", told(line: "11"), 2), ("another subscription", told(original: "2"), 2),
      ("another second", told(date: 6_000), 2), ("another environment", told(environment: .sandbox), 2),
      ("the same second", told(date: 5_999), 1), ("another generation", told(.notificationV1, at: 99), 1),
      ("another message", told(message: 2), 1), ("one has an UUID", told(uuid: "u"), 1),
    ] as [(String, Event, Int)])
  func `are one when they mean the same`(why: String, other: Event, count: Int) {
    #expect(Event.fold([told(), other]).count == count)
  }

  @Test func `are one when Apple gave them one UUID, whatever their date`() {
    #expect(
      Event.fold([told(uuid: "u", date: 5_000), told(uuid: "u", date: 9_000, at: 20)]).map(\.date) == [
        Timestamp(9_000)
      ])
    #expect(Event.fold([told(uuid: "u"), told(uuid: "u", environment: .sandbox)]).count == 2)
    // A V1 telling of the one, which means the same as a second signing of it.
    let chain = [told(uuid: "u", date: 5_000), told(uuid: "u", date: 9_000), told(.notificationV1, date: 9_000)]
    #expect(Event.fold(chain).count == 1)
  }

  @Test func `about no purchase are known by their UUID alone`() {
    let tests = ["a", "b", "a"].map { told(type: "TEST", uuid: $0, original: nil, line: nil) }
    #expect(Event.fold(tests).map(\.notificationUUID) == ["a", "b"])
  }

  @Test func `are told by the one with the most authority, then by the latest`() {
    let tellings = [
      told(.notificationV1, at: 99, message: 1), told(.signedV2, at: 10, message: 2),
      told(.signedV2, at: 20, message: 3),
    ]
    #expect(Event.fold(tellings).map(\.message) == [[3]])
  }

  @Test func `come out the same whatever the order and repetition`() {
    var random = SeededRandom()
    for _ in 0..<300 {
      func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
      let events = (0..<Int.random(in: 0...10, using: &random)).map { _ in
        told(
          pick([.signedV2, .notificationV1]), type: pick(["A", "B"]), uuid: pick([nil, "u", "v"]),
          original: pick([nil, "1"]),
          line: pick([nil, "10"]), date: pick([5_000, 5_001, 6_000]), at: pick([1, 2]), message: pick([1, 2]),
          details: pick([[:], ["a": 1]]))
      }
      let expected = Event.fold(events)
      let again = events + events.filter { _ in Bool.random(using: &random) }
      #expect(Event.fold(again.shuffled(using: &random)) == expected, "seed \(random.seed)")
      #expect(Event.fold(expected) == expected, "seed \(random.seed)")
    }
  }
}
