import Synchronization
package import Time

/// What processes share, in memory: the rows that a database would keep.
package final class SharedBudgets: Sendable {
  private struct Row {
    var learned: LearnedRate
    var until: Milliseconds
  }

  /// How long a share is given for.
  package static let term = Interval.seconds(2)

  private let rows = Mutex<[BudgetKey: [String: Row]]>([:])

  package init() {}

  /// The store as one of the processes sees it.
  package func member(_ name: String) -> Member { Member(budgets: self, name: name) }

  package struct Member: BudgetStore {
    fileprivate let budgets: SharedBudgets
    fileprivate let name: String

    package func leave(_ key: BudgetKey, knowing learned: LearnedRate, at now: Milliseconds) {
      budgets.rows.withLock { $0[key, default: [:]][name] = Row(learned: learned, until: now) }
    }

    package func renew(_ key: BudgetKey, knowing learned: LearnedRate, at now: Milliseconds) -> BudgetLease {
      budgets.rows.withLock { rows in
        var members = rows[key] ?? [:]
        let until = now + SharedBudgets.term
        members[name] = Row(learned: learned, until: until)
        let known = members.values.reduce(learned) { $0.merged(with: $1.learned) }
        // Who is gone leaves what it knew to the one who is here.
        members = members.filter { $0.value.until > now }
        members[name]?.learned = known
        rows[key] = members
        return BudgetLease(share: 1 / Double(members.count), learned: known, until: until)
      }
    }
  }
}
