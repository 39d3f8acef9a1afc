import CMariaDB
import Time

/// What a statement that changes rows has done.
package struct Outcome: Sendable, Equatable {
  /// Rows actually changed: an UPDATE that sets what was there counts 0; ON DUPLICATE KEY UPDATE counts 1 for a new
  /// row, 2 for a changed one, 0 for an unchanged one.
  package let affectedRows: UInt64
  /// The first AUTO_INCREMENT value the statement made, 0 if none.
  package let lastInsertID: UInt64
}

/// One conversation with the server: synchronous, confined to its `Connection`.
///
/// After an error that ended the transaction (a deadlock, a lost connection) every further statement of that
/// transaction throws the same error: the server would otherwise run it outside of any transaction.
package final class Session {
  /// The server's number for this connection, as KILL takes it.
  package private(set) var connectionID: UInt64 = 0
  package private(set) var serverVersion = ""

  let configuration: DatabaseConfiguration
  /// Bytes of a packet that are not text and values.
  static let packetSlack = 4 << 10

  /// The server's max_allowed_packet.
  private(set) var packetLimit = 1 << 20

  private let link: MySQLHandle
  private let statements: PreparedStatementCache
  /// Apart, so that neither the many texts of inserts nor those of everything else close the others.
  private let inserts: PreparedStatementCache
  private var isBusy = false
  private var isInTransaction = false
  /// Seconds that the server waits for a lock of this session's.
  private var lockWait: Int64 = 0
  private var endOfTransaction: DatabaseError?
  /// Whether the connection is of no further use.
  private(set) var isBroken = false
  /// Called with each statement before it is sent, except inserts of many rows; not with what it sends itself.
  ///
  /// For tests that ask the server for the plan of what the code sends.
  package var onStatement: ((Session, SQL) throws(DatabaseError) -> Void)?

  package init(_ configuration: DatabaseConfiguration) throws(DatabaseError) {
    self.configuration = configuration
    link = try MySQLHandle(connectingTo: configuration)
    statements = PreparedStatementCache(capacity: configuration.statementCacheSize)
    inserts = PreparedStatementCache(capacity: configuration.insertCacheSize)
    try initialize()
  }

  /// Runs a statement for its effect.
  package func execute(_ sql: SQL) throws(DatabaseError) -> Outcome {
    try withStatement(sql) { statement throws(DatabaseError) in try statement.execute([sql.arguments]) }
  }

  /// All rows of a result, up to the configured limit of bytes.
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

  /// Row after row, as they arrive; for results that should not be in memory at once.
  ///
  /// No other statement may be run from within `each` (`misuse`). When it throws, the rest is read and dropped.
  package func query(_ sql: SQL, each: (Row) throws(DatabaseError) -> Void) throws(DatabaseError) {
    try withStatement(sql) { statement throws(DatabaseError) in
      try statement.query(sql.arguments, each: each)
    }
  }

  /// Runs statements that cannot be prepared, or are not worth it; without arguments (`misuse` otherwise).
  package func run(_ sql: SQL) throws(DatabaseError) {
    guard sql.arguments.isEmpty else { throw DatabaseError(.misuse, "run() takes no arguments") }
    try send(sql.text)
  }

  /// Whether the server answers.
  package func ping() throws(DatabaseError) {
    try exclusively { () throws(DatabaseError) in try link.check(unsafe mysql_ping(link.mysql)) }
  }

  /// Runs an INSERT of these rows, whose size was looked at; affected rows.
  func execute(_ insert: String, rows: ArraySlice<[SQLValue]>) throws(DatabaseError) -> UInt64 {
    try withStatement(insert, in: inserts) { statement throws(DatabaseError) in
      try statement.execute(rows).affectedRows
    }
  }

  /// Runs statements by the text protocol; results dropped.
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

  /// An error such as 1213 can arrive with the result and not with the query.
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

  /// Runs the body with the statement of that text: from the cache, or prepared; once more if the server asks for it.
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
          // Ours are the only ones that we can close.
          self.statements.removeAll()
          inserts.removeAll()
        } else {
          throw error
        }
        return try body(try prepare(text, for: statements))
      }
    }
  }

  /// The server would answer what is too long by ending the connection, which looks like something worth retrying.
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

  /// One exchange with the server at a time, none after the transaction has ended by itself, every error noted.
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

  /// Whether the connection ended with a statement that KILL ended: MySQL says 1317 either way, MariaDB 1927 if it did.
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
  /// Everything that makes one session like another, whatever the server's defaults are.
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
    // In seconds. A process that was frozen inside a transaction would keep its locks for hours, and a rollback waits for them.
    // The other two would come before it. MySQL has no such variables.
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

  /// BEGIN, the body, COMMIT; ROLLBACK when the body throws.
  ///
  /// A body that ended the transaction itself (COMMIT, a statement that changes the schema) is `misuse`; what it did is
  /// done. A connection that breaks during COMMIT is `commitOutcomeUnknown`; a ROLLBACK that fails breaks the connection.
  ///
  /// - Parameters:
  ///   - lockWait: how long it waits for a row's lock, in whole seconds; nil: as long as the configuration says.
  ///   - isSnapshot: whether all statements see the tables as they are at the beginning, and none may change them.
  func transaction<R>(
    lockWait: Interval? = nil, isSnapshot: Bool = false, _ body: (Session) throws(DatabaseError) -> R
  ) throws(DatabaseError) -> R {
    guard !isInTransaction else { throw DatabaseError(.misuse, "a transaction inside a transaction") }
    try setLockWait(Self.seconds(lockWait ?? configuration.lockWaitTimeout))
    if isSnapshot {
      // Of the next transaction alone.
      try run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
      try run("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
    } else {
      try run("START TRANSACTION")
    }
    isInTransaction = true
    let value: R
    do throws(DatabaseError) {
      value = try body(self)
      if let endOfTransaction { throw endOfTransaction }  // the body swallowed it
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
  /// The bytes its values take, roughly.
  fileprivate var size: Int {
    values.reduce(0) { $0 + 32 + $1.size }
  }
}

extension SQLValue {
  /// The bytes it takes in a packet, at most: its kind takes two, its length up to nine.
  var size: Int {
    switch self {
    case .null, .integer, .unsigned: 12
    case .bytes(let bytes): 12 + bytes.count
    case .text(let text): 12 + text.utf8.count
    }
  }
}
