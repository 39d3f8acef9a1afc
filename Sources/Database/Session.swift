import CMariaDB
import Time

package struct Outcome: Sendable, Equatable {
  /// The number of changed rows.
  ///
  /// An UPDATE to the present values counts 0. ON DUPLICATE KEY UPDATE counts 1 for a new row, 2 for a changed one, 0
  /// for an unchanged one.
  package let affectedRows: UInt64
  /// The statement's first AUTO_INCREMENT value, 0 without one.
  package let lastInsertID: UInt64
}

/// A synchronous session with the server, confined to its `Connection`.
///
/// After an error that ended the transaction (a deadlock, a lost connection), all its further statements throw the same
/// error: the server would run them outside the transaction.
package final class Session {
  /// The server's number for KILL.
  package private(set) var connectionID: UInt64 = 0
  package private(set) var serverVersion = ""

  let configuration: DatabaseConfiguration
  static let packetSlack = 4 << 10

  /// The server's max_allowed_packet.
  private(set) var packetLimit = 1 << 20

  private let link: MySQLHandle
  private let statements: PreparedStatementCache
  /// Separate, so that inserts and other statements do not evict each other.
  private let inserts: PreparedStatementCache
  private var isBusy = false
  private var isInTransaction = false
  /// The session's lock wait, in seconds.
  private var lockWait: Int64 = 0
  private var endOfTransaction: DatabaseError?
  private(set) var isBroken = false
  /// Called before each statement, except inserts of many rows and the session's own statements.
  ///
  /// For tests that ask the server for the query plan.
  package var onStatement: ((Session, SQL) throws(DatabaseError) -> Void)?

  package init(_ configuration: DatabaseConfiguration) throws(DatabaseError) {
    self.configuration = configuration
    link = try MySQLHandle(connectingTo: configuration)
    statements = PreparedStatementCache(capacity: configuration.statementCacheSize)
    inserts = PreparedStatementCache(capacity: configuration.insertCacheSize)
    try initialize()
  }

  package func execute(_ sql: SQL) throws(DatabaseError) -> Outcome {
    try withStatement(sql) { statement throws(DatabaseError) in try statement.execute([sql.arguments]) }
  }

  /// Returns all rows, up to the configured limit of bytes.
  package func query(_ sql: SQL) throws(DatabaseError) -> [Row] {
    var rows: [Row] = []
    var size = 0
    try query(sql) { row throws(DatabaseError) in
      size += row.size
      guard size <= configuration.resultLimit else {
        throw DatabaseError(.tooLarge, "the result has more than \(configuration.resultLimit) bytes")
      }
      rows.append(row)
    }
    return rows
  }

  /// Passes each row on arrival, for results that should not be in memory entirely.
  ///
  /// `each` must not run another statement (`misuse`). If it throws, the rest is read and dropped.
  package func query(_ sql: SQL, each: (Row) throws(DatabaseError) -> Void) throws(DatabaseError) {
    try withStatement(sql) { statement throws(DatabaseError) in
      try statement.query(sql.arguments, each: each)
    }
  }

  /// Runs statements that cannot or need not be prepared, without arguments (`misuse` otherwise).
  package func run(_ sql: SQL) throws(DatabaseError) {
    guard sql.arguments.isEmpty else { throw DatabaseError(.misuse, "run() takes no arguments") }
    try send(sql.text)
  }

  package func ping() throws(DatabaseError) {
    try exclusively { () throws(DatabaseError) in try link.check(unsafe mysql_ping(link.mysql)) }
  }

  /// Runs an INSERT of rows whose size was checked, and returns the affected rows.
  func execute(_ insert: String, rows: ArraySlice<[SQLValue]>) throws(DatabaseError) -> UInt64 {
    try withStatement(insert, in: inserts) { statement throws(DatabaseError) in
      try statement.execute(rows).affectedRows
    }
  }

  /// Runs statements by the text protocol, and drops their results.
  func send(_ text: String) throws(DatabaseError) {
    try checkSize(text.utf8.count)
    try exclusively { () throws(DatabaseError) in
      try link.check(unsafe mysql_real_query(link.mysql, text, UInt(text.utf8.count)))
      while true {
        try dropResult()
        let next = unsafe mysql_next_result(link.mysql)
        guard next >= 0 else { return }
        try link.check(next)
      }
    }
  }

  /// An error such as 1213 can arrive with the result instead of the query.
  private func dropResult() throws(DatabaseError) {
    if let result = unsafe mysql_store_result(link.mysql) { return unsafe mysql_free_result(result) }
    guard unsafe mysql_field_count(link.mysql) == 0, unsafe mysql_errno(link.mysql) == 0 else { throw link.lastError }
  }

  private func withStatement<R>(
    _ sql: SQL, _ body: (PreparedStatement) throws(DatabaseError) -> R
  ) throws(DatabaseError) -> R {
    try checkSize(sql.arguments.reduce(sql.text.utf8.count) { $0 + $1.size })
    if let onStatement {
      self.onStatement = nil
      defer { self.onStatement = onStatement }
      try onStatement(self, sql)
    }
    return try withStatement(sql.text, in: statements, body)
  }

  /// Runs the body with the statement of this text, cached or prepared, and once more if the server requests it.
  private func withStatement<R>(
    _ text: String, in statements: PreparedStatementCache, _ body: (PreparedStatement) throws(DatabaseError) -> R
  ) throws(DatabaseError) -> R {
    try exclusively { () throws(DatabaseError) in
      do throws(DatabaseError) {
        if let cached = statements.statement(text) { return try body(cached) }
        return try body(try prepare(text, for: statements))
      } catch {
        if error.asksForPreparing {
          statements.remove(text)
        } else if error.asksForFewerStatements {
          // This session's statements are the only ones that it can close.
          self.statements.removeAll()
          inserts.removeAll()
        } else {
          throw error
        }
        return try body(try prepare(text, for: statements))
      }
    }
  }

  /// The server would close the connection if a statement is too long, which looks like a retryable error.
  private func checkSize(_ size: Int) throws(DatabaseError) {
    guard size <= packetLimit - Self.packetSlack else {
      throw DatabaseError(.tooLarge, "a statement of \(size) bytes; the server takes \(packetLimit)")
    }
  }

  private func prepare(
    _ text: String, for statements: PreparedStatementCache
  ) throws(DatabaseError) -> PreparedStatement {
    let statement = try PreparedStatement(text, on: link, columnLimit: configuration.columnLimit)
    statements.insert(statement, for: text)
    return statement
  }

  /// Runs one exchange with the server at a time and records its error.
  ///
  /// Throws if the transaction has already ended.
  private func exclusively<R>(_ body: () throws(DatabaseError) -> R) throws(DatabaseError) -> R {
    if let endOfTransaction { throw endOfTransaction }
    guard !isBusy else { throw DatabaseError(.misuse, "a result is still being read") }
    isBusy = true
    defer { isBusy = false }
    do throws(DatabaseError) {
      return try body()
    } catch {
      let error = isGone(error) ? DatabaseError(.connectionLost, error.detail) : error
      note(error)
      throw error
    }
  }

  /// Whether KILL ended the connection together with the statement: MySQL always reports 1317, MariaDB reports 1927
  /// then.
  private func isGone(_ error: DatabaseError) -> Bool {
    guard error.code == .other(1317) else { return false }
    return unsafe mysql_ping(link.mysql) != 0
  }

  private func note(_ error: DatabaseError) {
    switch error.code {
    case .connectionLost, .nodeNotReady, .commitOutcomeUnknown: isBroken = true
    case .connectionRefused, .accessDenied, .unknownDatabase, .tlsFailed, .timedOut, .deadlock, .lockWaitTimeout,
      .recordChanged, .duplicateKey, .tooLarge, .column, .misuse, .abandoned, .closed, .other:
      break
    }
    if isInTransaction, error.endsTransaction { endOfTransaction = error }
  }
}

extension Session {
  /// Sets everything that makes sessions equal, regardless of the server's defaults.
  private func initialize() throws(DatabaseError) {
    try run("SET NAMES utf8mb4 COLLATE utf8mb4_bin")
    try run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
    let wait = Self.seconds(configuration.lockWaitTimeout)
    lockWait = wait
    _ = try execute(
      """
      SET SESSION time_zone = '+00:00', autocommit = 1, innodb_lock_wait_timeout = \(wait), lock_wait_timeout = \(wait), sql_mode = \
      'STRICT_TRANS_TABLES,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'
      """)
    // In seconds. A process that froze in a transaction would keep its locks for hours, and a rollback waits for them.
    // The other two would have precedence. MySQL has no such variables.
    try run(
      """
      SET SESSION autocommit = 1 /*M!100300 , idle_transaction_timeout = 20, idle_write_transaction_timeout = 0, \
      idle_readonly_transaction_timeout = 0 */
      """)
    let rows = try query("SELECT CONNECTION_ID() AS id, @@max_allowed_packet AS packet, VERSION() AS version")
    guard let row = rows.first else { throw DatabaseError(.connectionLost, "the server reported nothing about itself") }
    connectionID = try row.uint64("id")
    serverVersion = try row.text("version")
    packetLimit = Int(clamping: try row.uint64("packet"))
  }

  /// Runs BEGIN, the body and COMMIT, or ROLLBACK if the body throws.
  ///
  /// Throws `misuse` if the body ended the transaction (COMMIT, a schema change), whose changes stay. Throws
  /// `commitOutcomeUnknown` if the connection breaks during COMMIT. A failed ROLLBACK breaks the connection.
  ///
  /// - Parameters:
  ///   - lockWait: the lock wait for a row, in whole seconds. `nil`: as in the configuration.
  ///   - isSnapshot: whether all statements read a snapshot from the beginning and must not change tables.
  func transaction<R>(
    lockWait: Interval? = nil, isSnapshot: Bool = false, _ body: (Session) throws(DatabaseError) -> R
  ) throws(DatabaseError) -> R {
    guard !isInTransaction else { throw DatabaseError(.misuse, "a transaction inside a transaction") }
    try setLockWait(Self.seconds(lockWait ?? configuration.lockWaitTimeout))
    if isSnapshot {
      // Applies only to the next transaction.
      try run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
      try run("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
    } else {
      try run("START TRANSACTION")
    }
    isInTransaction = true
    let value: R
    do throws(DatabaseError) {
      value = try body(self)
      if let endOfTransaction { throw endOfTransaction }  // The body ignored this error.
      guard link.isInTransaction else { throw DatabaseError(.misuse, "a statement has ended the transaction") }
    } catch {
      rollBack()
      throw error
    }
    try commit()
    return value
  }

  private static func seconds(_ interval: Interval) -> Int64 { max(1, interval.milliseconds / 1_000) }

  private func setLockWait(_ seconds: Int64) throws(DatabaseError) {
    guard seconds != lockWait else { return }
    _ = try execute("SET SESSION innodb_lock_wait_timeout = \(seconds)")
    lockWait = seconds
  }

  private func rollBack() {
    isInTransaction = false
    endOfTransaction = nil
    guard !isBroken else { return }
    do throws(DatabaseError) { try run("ROLLBACK") } catch { isBroken = true }
  }

  private func commit() throws(DatabaseError) {
    do throws(DatabaseError) {
      try run("COMMIT")
      isInTransaction = false
    } catch {
      switch error.code {
      case .deadlock, .lockWaitTimeout, .recordChanged, .nodeNotReady:
        rollBack()
        throw error
      case .connectionLost, .connectionRefused, .accessDenied, .unknownDatabase, .tlsFailed, .timedOut,
        .duplicateKey, .commitOutcomeUnknown, .tooLarge, .column, .misuse, .abandoned, .closed, .other:
        isInTransaction = false
        isBroken = true
        throw DatabaseError(.commitOutcomeUnknown, error.detail)
      }
    }
  }
}

extension Row {
  fileprivate var size: Int {
    values.reduce(0) { $0 + 32 + $1.size }
  }
}

extension SQLValue {
  /// The maximum bytes in a packet: the type needs two, the length up to nine.
  var size: Int {
    switch self {
    case .null, .integer, .unsigned: 12
    case .bytes(let bytes): 12 + bytes.count
    case .text(let text): 12 + text.utf8.count
    }
  }
}
