@testable import Ledger

/// Several writers, joins of customers and several processes that send, all at once, with every outcome of an attempt.
@Suite struct `The outbox under everybody at once` {
  private static let customers = 12
  private static let senders = 3
  private static let batches = 25

  /// What happened to a message, in the order of a counter.
  private struct Story: Sendable {
    let customer: Int
    let begun: Int
    var committed: Int?
    var leased: [Int] = []
    /// Before the transaction began that settled it for good.
    var settled: Int?
  }

  private final class Chronicle: Sendable {
    private let record = Mutex(Record())

    func withLock<R: Sendable>(_ body: (inout Record) -> R) -> R { record.withLock { body(&$0) } }
  }

  private struct Record: Sendable {
    var tick = 0
    var writersLeft = 3
    var stories: [String: Story] = [:]
    /// Joined customers, and when that was committed.
    var joins: [(a: Int, b: Int, committed: Int)] = []

    mutating func next() -> Int {
      tick += 1
      return tick
    }
  }

  @Test func `sends everything once, in order per customer, and leaves nothing blocked`() async throws {
    let fixture = try await OutboxFixture()
    let seed = SeededRandom().seed
    let record = Chronicle()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<Record().writersLeft {
        group.addTask {
          var random = SeededRandom(seed: seed &+ UInt64(writer))
          try await Self.write(fixture, writer, record, &random)
          record.withLock { $0.writersLeft -= 1 }
        }
      }
      for sender in 0..<Self.senders {
        group.addTask {
          var random = SeededRandom(seed: seed &+ UInt64(100 + sender))
          try await Self.send(fixture, record, &random)
        }
      }
      group.addTask {
        while record.withLock({ $0.writersLeft > 0 }) {
          var cursor: OutboxTable.SweepCursor?
          repeat {
            let (after, destination) = (cursor, fixture.destination)
            let step = try await fixture.pool.transaction { session throws(DatabaseError) in
              try OutboxTable.sweep(destination, after: after, limit: 20, at: OutboxFixture.now, in: session)
            }
            #expect(step.freed == 0, "the safety net caught something, seed \(seed)")
            cursor = step.next
          } while cursor != nil
        }
      }
      try await group.waitForAll()
    }
    let stories = record.withLock { $0 }
    #expect(stories.stories.count > 200 && stories.joins.count > 3)
    for (text, story) in stories.stories { #expect(story.settled != nil, "\(text) was not sent, seed \(seed)") }
    Self.check(stories, seed)
    #expect(try await fixture.count("SELECT COUNT(*) FROM outbox WHERE state = 0") == 0)
    #expect(try await fixture.count("SELECT COUNT(*) FROM outbox_keys") == 0)
    await fixture.pool.close()
  }

  /// Appends messages of any customers in batches, customers that other writers write too; now and then two join.
  private static func write(
    _ fixture: OutboxFixture, _ writer: Int, _ record: Chronicle, _ random: inout SeededRandom
  ) async throws {
    for batch in 0..<batches {
      if batch % 8 == 5 {
        let (a, b) = (Int.random(in: 0..<customers, using: &random), Int.random(in: 0..<customers, using: &random))
        let join = fixture.entry("join \(writer) \(batch)", ["\(a)", "\(b)"], forwarded: false)
        _ = try await fixture.ledger.append([join])
        record.withLock { record in
          let now = record.next()
          record.joins.append((a, b, now))
        }
      }
      var entries: [LedgerEntry] = []
      var texts: [String] = []
      for number in 0..<Int.random(in: 1...6, using: &random) {
        let customer = Int.random(in: 0..<customers, using: &random)
        let text = "\(writer)/\(batch)/\(number)"
        record.withLock { record in
          let now = record.next()
          record.stories[text] = Story(customer: customer, begun: now)
        }
        texts.append(text)
        entries.append(
          fixture.entry(text, ["\(customer)"], proof: Bool.random(using: &random) ? .proven : .claimed))
      }
      _ = try await fixture.ledger.append(entries)
      record.withLock { record in
        let now = record.next()
        for text in texts { record.stories[text]?.committed = now }
      }
    }
  }

  /// Takes turns until everything is settled, each with some outcomes of the one before.
  private static func send(
    _ fixture: OutboxFixture, _ record: Chronicle, _ random: inout SeededRandom
  ) async throws {
    var underWay: [(text: String, LeasedDelivery)] = []
    while true {
      underWay.shuffle(using: &random)
      let ended = underWay.prefix(Int.random(in: 0...underWay.count, using: &random))
      underWay.removeFirst(ended.count)
      let settlements = ended.map { text, delivery in
        let outcome = Self.outcome(&random)
        if outcome == .delivered || outcome == .dead(error: "x") {
          record.withLock { record in
            let now = record.next()
            if record.stories[text]?.settled == nil { record.stories[text]?.settled = now }
          }
        }
        return Settlement(delivery, outcome)
      }
      let wanted = Int.random(in: 1...8, using: &random)
      let turned = try await fixture.turn(settlements, wanted: [.proven: wanted, .claimed: wanted])
      let (digests, destination) = (turned.leased.map(\.message), fixture.destination)
      let bodies = try await fixture.pool.read { session throws(DatabaseError) in
        try OutboxTable.messages(digests, for: destination, .ofTests, in: session)
      }
      for delivery in turned.leased {
        let text = String(decoding: bodies[delivery.message]?.message.body ?? [], as: UTF8.self)
        record.withLock { record in
          let now = record.next()
          record.stories[text]?.leased.append(now)
        }
        underWay.append((text, delivery))
      }
      if record.withLock({ $0.writersLeft == 0 }), underWay.isEmpty, turned.leased.isEmpty,
        try await fixture.count("SELECT COUNT(*) FROM outbox WHERE state = 0") == 0
      {
        return
      }
    }
  }

  private static func outcome(_ random: inout SeededRandom) -> Settlement.Outcome {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<3: .failed(error: "answered 503", retryAt: OutboxFixture.now)
    case 3..<5: .released
    case 5: .dead(error: "x")
    default: .delivered
    }
  }

  /// Checks that each message was settled before a later one of the same customer was leased.
  ///
  /// Earlier is what was committed before the other was begun. Customers that joined count as one for what was begun after
  /// that.
  private static func check(_ record: Record, _ seed: UInt64) {
    for (text, story) in record.stories {
      var group: Set<Int> = [story.customer]
      for _ in record.joins {
        for join in record.joins where join.committed < story.begun && !group.isDisjoint(with: [join.a, join.b]) {
          group.formUnion([join.a, join.b])
        }
      }
      let first = story.leased.min() ?? .max
      for (earlier, before) in record.stories where group.contains(before.customer) {
        guard let committed = before.committed, committed < story.begun, let settled = before.settled else { continue }
        #expect(settled < first, "\(text) was sent before \(earlier), seed \(seed)")
      }
    }
  }
}
