import Database
import Purchases
import Time

/// A waiting row.
struct HistoryJob: Hashable {
  let id: Int64
  let kind: HistoryJobTable.Kind
  let subject: String
  let isAgain: Bool
  let unknownIn: Environment?
  let dueAt: Timestamp

  /// Creates a future row for an ID whose history will be requested.
  init(id: Int64, subject: String) {
    (self.id, self.subject) = (id, subject)
    (kind, isAgain, unknownIn, dueAt) = (.history, false, nil, Timestamp(0))
  }

  init(_ row: Row) throws(DatabaseError) {
    id = try row.int64("id")
    kind = try HistoryJobTable.kind(of: row)
    subject = try row.text("subject")
    isAgain = try row.bool("is_again")
    unknownIn = try row.optionalInt("unknown_in").map { code throws(DatabaseError) in try Environment(code: code) }
    dueAt = try row.milliseconds("due_at")
  }
}
