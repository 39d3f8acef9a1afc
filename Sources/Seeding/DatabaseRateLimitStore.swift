package import AppStore
package import Database
import Ledger
import Signing
package import Time

/// Where processes share what Apple allows: in the ledger.
package struct DatabaseRateLimitStore: RateLimitStore {
  private let pool: Pool
  private let process: [UInt8]

  /// - Parameter process: what this one is called among those that share the ledger: 16 bytes.
  package init(pool: Pool, process: [UInt8] = .random(count: 16)) {
    self.pool = pool
    self.process = process
  }

  /// How long the others leave a process its share.
  static let term = Interval.seconds(2)
  /// When it says that it still wants it: well before, so that nobody takes it for one that comes anew.
  static let renewal = Interval.seconds(1)
  /// So long whoever joins waits for others who join at the same time, and cannot see it yet.
  static let arrival = Interval.milliseconds(250)
  /// How far the clocks of two machines may be apart.
  ///
  /// What lasts longer was written before a clock was set back.
  private static let skew = Interval.minutes(1)

  package func renew(_ key: RateLimitKey, knowing learned: AdaptiveRate, at now: Timestamp) async throws
    -> RateLimitShare
  {
    let (name, until, process) = (Self.name(key), now + Self.term, process)
    return try await pool.transaction(replayable: true) { session throws(DatabaseError) in
      let entries = try RateLimitTable.entries(of: name, at: now, in: session)
      let known = entries.values.reduce(learned) { $0.merged(with: AdaptiveRate($1)) }
      let others = entries.filter {
        $0.key != process && $0.value.until > now && $0.value.until <= until + Self.skew
      }
      let share = 1 / Double(1 + others.count)
      if let own = entries[process], own.until > now {
        try RateLimitTable.put(RateLimitTable.Record(known, until: until), of: name, by: process, in: session)
        return RateLimitShare(share: share, learned: known, until: now + Self.renewal)
      }
      // The others know of this one from their next renewal on. Their clocks may be ahead of this one's: it has to be a
      // member still when it is let in, or it would join anew for ever.
      let from = others.values.reduce(now + Self.arrival) { max($0, $1.until) }
      let member = RateLimitTable.Record(known, until: max(until, from + Self.renewal))
      try RateLimitTable.put(member, of: name, by: process, in: session)
      return RateLimitShare(share: share, learned: known, until: from, bulkFrom: from)
    }
  }

  package func leave(_ key: RateLimitKey, knowing learned: AdaptiveRate, at now: Timestamp) async throws {
    let (name, process) = (Self.name(key), process)
    try await pool.transaction(replayable: true) { session throws(DatabaseError) in
      try RateLimitTable.put(RateLimitTable.Record(learned, until: now), of: name, by: process, in: session)
    }
  }

  /// What all processes together know of a budget; nil before anybody asked.
  package static func learned(
    _ key: RateLimitKey, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> AdaptiveRate? {
    let entries = try RateLimitTable.entries(of: name(key), at: now, in: session).values.map(AdaptiveRate.init)
    return entries.dropFirst().reduce(entries.first) { $0?.merged(with: $1) }
  }

  private static func name(_ key: RateLimitKey) -> String {
    "\(key.environment.rawValue)/\(key.endpoint.rawValue)/\(key.app)"
  }
}

extension AdaptiveRate {
  fileprivate init(_ entry: RateLimitTable.Record) {
    self.init(
      perSecond: entry.rate, blockedUntil: entry.blockedUntil, refusedRate: entry.refusedRate,
      refusedAt: entry.refusedAt, takenUntil: entry.takenUntil)
  }
}

extension RateLimitTable.Record {
  fileprivate init(_ learned: AdaptiveRate, until: Timestamp) {
    self.init(
      until: until, rate: learned.perSecond, blockedUntil: learned.blockedUntil, refusedRate: learned.refusedRate,
      refusedAt: learned.refusedAt, takenUntil: learned.takenUntil)
  }
}
