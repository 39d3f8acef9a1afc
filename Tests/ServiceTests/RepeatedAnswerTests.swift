@testable import Service

@Suite struct `An answer about a receipt that was asked about before` {
  private static let app = App(id: App.ID(1), bundleID: "com.example.app", appAppleID: nil)
  private let start = ContinuousClock.now

  private func answers(_ change: (inout ResponseDeduplicator.Settings) -> Void = { _ in }) -> ResponseDeduplicator {
    var settings = ResponseDeduplicator.Settings()
    change(&settings)
    return ResponseDeduplicator(settings)
  }

  private func answer(
    _ receipt: String, says words: String, request: Int = 0, environment: Environment = .production
  ) -> ResponseDeduplicator.Answer {
    let object: JSONObject = [
      "status": 0, "latest_receipt": .string("made anew \(request)"), "latest_receipt_info": [.string(words)],
      "receipt": ["bundle_id": .string(receipt), "request_date_ms": .string("\(request)")],
    ]
    return ResponseDeduplicator.Answer(
      object.encoded(), object, of: Self.app, environment: environment, receivedAt: Timestamp(Int64(request)))
  }

  @Test func `is held back for a minute if it says the same, and the last of those is recorded`() {
    let answers = answers()
    #expect(answers.turn(of: answer("a", says: "bought"), at: start) == .now)
    let second = answer("a", says: "bought", request: 1)
    #expect(answers.turn(of: second, at: start + .seconds(10)) == .later(.seconds(50)))
    #expect(answers.turn(of: answer("a", says: "bought", request: 2), at: start + .seconds(59)) == .inPlaceOfAnother)
    // Others wait for nothing.
    #expect(answers.turn(of: answer("b", says: "bought"), at: start + .seconds(59)) == .now)
    #expect(answers.turn(of: answer("a", says: "bought", environment: .sandbox), at: start + .seconds(59)) == .now)
    #expect(answers.release(second.words, at: start + .seconds(60))?.receivedAt == Timestamp(2))
    #expect(answers.release(second.words, at: start + .seconds(60)) == nil)
    let next = answer("a", says: "bought", request: 3)
    #expect(answers.turn(of: next, at: start + .seconds(61)) == .later(.seconds(59)))
  }

  /// One receipt with and without `exclude-old-transactions`, or a refund and its reversal: neither hides the other.
  @Test func `waits for no answer that says something else, and takes no place of one`() {
    let answers = answers()
    for (second, words) in ["bought", "refunded"].enumerated() {
      #expect(answers.turn(of: answer("a", says: words, request: second), at: start + .seconds(second)) == .now)
    }
    let held = (2..<200).map { second in
      let answer = answer("a", says: second % 2 == 0 ? "bought" : "refunded", request: second)
      return (answer, answers.turn(of: answer, at: start + .milliseconds(second * 200)))
    }
    #expect(held[0].1 == .later(.milliseconds(59_600)) && held[1].1 == .later(.milliseconds(60_400)))
    #expect(held.dropFirst(2).allSatisfy { $0.1 == .inPlaceOfAnother })
    for (answer, _) in held.prefix(2) {
      let released = answers.release(answer.words, at: start + .seconds(61))
      let last = answer.receivedAt == Timestamp(2) ? 198 : 199
      #expect(released?.words == answer.words && released?.receivedAt == Timestamp(Int64(last)))
    }
  }

  @Test func `is recorded at once a minute later, or if there is no room to hold it`() {
    let answers = answers { ($0.answers, $0.bytes) = (1, 10) }
    #expect(answers.turn(of: answer("a", says: "bought"), at: start) == .now)
    #expect(answers.turn(of: answer("a", says: "bought", request: 1), at: start + .seconds(1)) == .now)
    #expect(answers.turn(of: answer("b", says: "bought"), at: start) == .now)
    #expect(answers.turn(of: answer("b", says: "bought"), at: start) == .now)
    #expect(answers.turn(of: answer("a", says: "bought", request: 2), at: start + .seconds(61)) == .now)
    // What is old makes room.
    #expect(answers.turn(of: answer("b", says: "bought"), at: start + .seconds(130)) == .now)
  }
}
