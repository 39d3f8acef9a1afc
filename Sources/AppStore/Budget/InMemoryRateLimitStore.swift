import Synchronization
package import Time

/// What processes share, in memory: the rows that a database would keep.
package final class InMemoryRateLimitStore: Sendable {
  private struct Row {
    var learned: AdaptiveRate
    var until: Timestamp
  }

  /// How long a share is given for.
  package static let term = Interval.seconds(2)

  private let rows = Mutex<[RateLimitKey: [String: Row]]>([:])

  package init() {}

  /// The store as one of the processes sees it.
  package func member(_ name: String) -> Member { Member(budgets: self, name: name) }

  package struct Member: RateLimitStore {
    fileprivate let budgets: InMemoryRateLimitStore
    fileprivate let name: String

    package func leave(_ key: RateLimitKey, knowing learned: AdaptiveRate, at now: Timestamp) {
      budgets.rows.withLock { $0[key, default: [:]][name] = Row(learned: learned, until: now) }
    }

    package func renew(_ key: RateLimitKey, knowing learned: AdaptiveRate, at now: Timestamp) -> RateLimitShare {
      budgets.rows.withLock { rows in
        var members = rows[key] ?? [:]
        let until = now + InMemoryRateLimitStore.term
        members[name] = Row(learned: learned, until: until)
        let known = members.values.reduce(learned) { $0.merged(with: $1.learned) }
        // Who is gone leaves what it knew to the one who is here.
        members = members.filter { $0.value.until > now }
        members[name]?.learned = known
        rows[key] = members
        return RateLimitShare(share: 1 / Double(members.count), learned: known, until: until)
      }
    }
  }
}
