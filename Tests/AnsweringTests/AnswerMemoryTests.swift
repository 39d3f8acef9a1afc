@testable import Answering

@Suite struct `The memory of answers` {
  private static let scope = AppScope(app: App.ID(1), environment: .production)
  private static let now = Timestamp(1_800_000_000_000)

  private static func key(_ number: Int) -> ResponseCacheKey {
    ResponseCacheKey(
      scope: scope, epoch: 1, receipt: .sha256(Array("\(number)".utf8)), excludesOldTransactions: false,
      tellsSubscriptions: true, readings: [])
  }

  private static func reply(_ size: Int = 10) -> ComposedResponse {
    ComposedResponse(body: [UInt8](repeating: 0x20, count: size), status: 0, source: .ledger)
  }

  private static func id(_ number: Int) -> CustomerNode { .originalTransactionID("\(number)") }

  private func keep(_ memory: ResponseCache, _ number: Int, size: Int = 10, changing next: Timestamp? = nil) {
    memory.keep(
      Self.reply(size), to: Self.key(number), about: [Self.id(number)], since: memory.mark, changing: next, at: Self.now
    )
  }

  private func has(_ memory: ResponseCache, _ number: Int, at instant: Timestamp = now) -> Bool {
    memory.answer(to: Self.key(number), at: instant) != nil
  }

  @Test func `gives an answer again for its time, never beyond the end of a period`() {
    let memory = ResponseCache(kept: .seconds(30))
    keep(memory, 1)
    keep(memory, 2, changing: Self.now + .seconds(5))
    #expect(has(memory, 1, at: Self.now + .seconds(29)) && !has(memory, 1, at: Self.now + .seconds(30)))
    #expect(has(memory, 2, at: Self.now + .seconds(4)) && !has(memory, 2, at: Self.now + .seconds(5)))
    let off = ResponseCache(kept: .milliseconds(0))
    keep(off, 1)
    #expect(!has(off, 1))
  }

  @Test func `forgets by news of the customer, also of news while the answer was made`() {
    let memory = ResponseCache(kept: .seconds(30))
    keep(memory, 1)
    keep(memory, 2)
    memory.forget([Self.id(1)], in: Self.scope)
    #expect(!has(memory, 1) && has(memory, 2))
    let mark = memory.mark
    memory.forget([Self.id(3)], in: Self.scope)
    memory.keep(
      Self.reply(), to: Self.key(3), about: [Self.id(3)], since: mark, changing: nil, at: Self.now)
    #expect(!has(memory, 3))
    memory.forget([Self.id(2)], in: AppScope(app: App.ID(1), environment: .sandbox))
    #expect(has(memory, 2))
  }

  @Test func `is bounded in answers and in bytes, and the oldest go first`() {
    let memory = ResponseCache(kept: .seconds(30), mostBytes: 8_000, most: 5)
    for number in 0..<1_000 {
      keep(memory, number)
      if number >= 5 { #expect(!has(memory, number - 5)) }
    }
    #expect((995..<1_000).allSatisfy { has(memory, $0) })
    // Each counts with what it is found by: 512 bytes and 256 for each id.
    keep(memory, 2_000, size: 2_000 - 768 + 1)
    #expect(!has(memory, 2_000), "a quarter of the memory at most")
    for number in 3_000..<3_100 { keep(memory, number, size: 2_000 - 768) }
    #expect((3_096..<3_100).allSatisfy { has(memory, $0) } && !has(memory, 3_095))
    let ids = Set((0..<100).map { CustomerNode.originalTransactionID("\($0)") })
    memory.keep(Self.reply(), to: Self.key(9), about: ids, since: memory.mark, changing: nil, at: Self.now)
    #expect(!has(memory, 9))
  }

  @Test func `keeps what is kept again, however often`() {
    let memory = ResponseCache(kept: .seconds(30), most: 10)
    for round in 0..<500 {
      for number in 0..<5 { keep(memory, number) }
      #expect((0..<5).allSatisfy { has(memory, $0) }, "round \(round)")
    }
  }
}
