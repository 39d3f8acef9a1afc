import JSON
import Runtime

/// What became of every row: `rows` = `usable` + `duplicates` + all of `rejected`.
package struct RowCounts: Equatable, Sendable {
  package internal(set) var rows = 0
  package internal(set) var usable = 0
  package internal(set) var duplicates = 0
  package internal(set) var reasons: [RejectReason: Int] = [:]

  package init() {}

  package var rejected: Int { reasons.values.reduce(0, +) }

  /// Whether nothing was lost on the way.
  package var balances: Bool { rows == usable + duplicates + rejected }

  /// The reasons with their numbers, the most frequent first.
  package var rejectedByReason: [(code: String, count: Int)] {
    reasons.map { ($0.key.code, $0.value) }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
  }

  mutating func add(_ entry: BlockResult.Entry, isAdmitted: Bool) {
    rows += 1
    switch entry {
    case .usable: if isAdmitted { usable += 1 } else { duplicates += 1 }
    case .duplicate: duplicates += 1
    case .rejected(let reason): reasons[reason, default: 0] += 1
    }
  }
}
