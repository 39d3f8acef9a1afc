import Database
import Purchases
import Time

/// A row that waits.
struct WorkRow: Hashable {
  let id: Int64
  let kind: WorkTable.Kind
  let subject: String
  let isAgain: Bool
  let unknownIn: Environment?
  let dueAt: Milliseconds

  /// One that is still to come, of an id whose history is asked for.
  init(id: Int64, subject: String) {
    (self.id, self.subject) = (id, subject)
    (kind, isAgain, unknownIn, dueAt) = (.history, false, nil, Milliseconds(0))
  }

  init(_ row: Row) throws(DatabaseError) {
    id = try row.int64("id")
    kind = try WorkTable.kind(of: row)
    subject = try row.text("subject")
    isAgain = try row.bool("is_again")
    unknownIn = try row.optionalInt("unknown_in").map { code throws(DatabaseError) in try Environment(code: code) }
    dueAt = try row.milliseconds("due_at")
  }
}
