import Database
import Purchases
import Signing

extension UnconfirmedReport {
  /// Returns the reports to queue, in a stable order, and the number of those above the quota for new IDs.
  ///
  /// - Parameter order: the priority by message. Default: `next`.
  static func admitted(
    _ reports: [Self], _ order: [Digest: UnconfirmedIDPriority], in session: borrowing Session
  ) throws(DatabaseError) -> (queued: [Self], left: Int) {
    var (queued, left): ([Self], Int) = ([], 0)
    var (ofMessage, ofScope): ([Digest: Int], [AppScope: Int]) = ([:], [:])
    let inOrder = reports.sorted {
      ($0.receivedAt, $0.originalTransactionID) < ($1.receivedAt, $1.originalTransactionID)
    }
    for var report in inOrder {
      switch order[report.message] ?? .next {
      case .first: report.comesFirst = true
      case .behind(let most) where !report.isKnown:
        let scope = report.scope
        if ofScope[scope] == nil { ofScope[scope] = try HistoryJobTable.room(for: .claimedID, in: scope, session) }
        guard let room = ofScope[scope], room > 0, ofMessage[report.message, default: 0] < most else {
          left += 1
          continue
        }
        ofScope[scope] = room - 1
        ofMessage[report.message, default: 0] += 1
      case .next, .behind: break
      }
      queued.append(report)
    }
    return (queued, left)
  }
}

extension HistoryJobTable {
  /// Returns the IDs that were never looked up at Apple and have no waiting lookup.
  static func unasked(
    _ ids: Set<String>, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<String> {
    var unasked = ids
    for ids in ids.sorted().parts() {
      for row in try session.query("SELECT subject FROM \(HistoryJobTable.listed(ids, in: scope))") {
        unasked.remove(try row.text(0))
      }
    }
    return unasked
  }

  /// Returns the IDs that Apple did not know, or gave no response about, when they were looked up as seeds.
  static func givenUp(
    _ ids: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<String> {
    var found: Set<String> = []
    let givenUp: SQL = "WHERE state IN (\(State.unknown.rawValue), \(State.failed.rawValue))"
    try session.read("subject", of: .work, ids, in: scope, "AND kind = \(Kind.history.rawValue) \(givenUp)") {
      row throws(DatabaseError) in found.insert(try row.text(0))
    }
    return found
  }
}
