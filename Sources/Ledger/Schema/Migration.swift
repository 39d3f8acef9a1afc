import Database

/// One step of the schema; forward only.
///
/// Every change can run twice, since DDL commits on its own: a migration that was cut off is simply run again. A
/// binary of version N works on schema N + 1, so that nodes can be upgraded one by one: a step may add, never take away
/// what the binary before it reads.
package struct Migration: Sendable {
  /// One statement, and how to tell that it was run before.
  struct Change: Sendable {
    let statement: SQL
    /// A query that has a row once the statement was run; nil for a statement that can be repeated as it is.
    let isDone: SQL?

    init(_ statement: SQL, unless isDone: SQL? = nil) {
      self.statement = statement
      self.isDone = isDone
    }
  }

  package let version: Int
  /// What it brings, in an operator's words.
  package let title: String
  let changes: [Change]

  init(version: Int, title: String, changes: [Change]) {
    self.version = version
    self.title = title
    self.changes = changes
  }

  /// A step of statements that can be repeated as they are.
  init(version: Int, title: String, statements: [SQL]) {
    self.init(version: version, title: title, changes: statements.map { Change($0) })
  }

  /// Every step so far, in order.
  package static var all: [Migration] {
    [
      first, second, third, fourth, fifth, sixth, heldHistories, heard, theSwitch, bulkMigrations, answerTimes,
      guardThresholds, migrationMessages, serviceNames, refundSweeps,
      storedUsers,
    ]
  }

  /// The schema this binary was built for.
  package static var newest: Int { all.last?.version ?? 0 }
}

extension Migration.Change {
  /// Makes the change unless it was made before, by us or by another node at the same moment.
  func run(in session: borrowing Session) throws(DatabaseError) {
    guard let isDone else { return try session.run(statement) }
    guard try session.query(isDone).isEmpty else { return }
    do throws(DatabaseError) { try session.run(statement) } catch {
      // Two nodes may migrate at once: the second one finds the column there after all.
      guard error.isRetryable == false, try !session.query(isDone).isEmpty else { throw error }
    }
  }
}
