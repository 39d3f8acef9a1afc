import CMariaDB

/// The only owner of a `MYSQL_STMT`, prepared in its initializer and closed with its last reference.
@safe final class PreparedStatement {
  private let link: MySQLHandle
  private let statement: UnsafeMutablePointer<MYSQL_STMT>
  private let parameterCount: Int
  private let hasResult: Bool
  private let columnLimit: Int
  private var result: ResultBuffers?

  init(_ text: String, on link: MySQLHandle, columnLimit: Int) throws(DatabaseError) {
    guard let statement = unsafe mysql_stmt_init(link.mysql) else { throw link.lastError }
    let status = unsafe mysql_stmt_prepare(statement, text, UInt(text.utf8.count))
    guard status == 0 else {
      let error = unsafe Self.error(of: statement, on: link)
      unsafe mysql_stmt_close(statement)
      throw error
    }
    self.link = link
    unsafe self.statement = unsafe statement
    self.columnLimit = columnLimit
    parameterCount = Int(unsafe mysql_stmt_param_count(statement))
    hasResult = unsafe mysql_stmt_field_count(statement) > 0
  }

  deinit { unsafe mysql_stmt_close(statement) }

  /// Executes the statement and drops its result set, if any.
  ///
  /// The arguments are those of each row, in order.
  func execute(_ rows: ArraySlice<[SQLValue]>) throws(DatabaseError) -> Outcome {
    try send(rows)
    let outcome = unsafe Outcome(
      affectedRows: mysql_stmt_affected_rows(statement), lastInsertID: mysql_stmt_insert_id(statement))
    try finish()
    return outcome
  }

  /// Executes the statement and passes each row on arrival, without storing it.
  ///
  /// If `each` throws, the rest of the result is read and dropped, so that the connection stays usable.
  func query(_ arguments: [SQLValue], each: (Row) throws(DatabaseError) -> Void) throws(DatabaseError) {
    guard hasResult else { throw DatabaseError(.misuse, "the statement has no result") }
    try send([arguments])
    guard let result = currentBuffers() else { throw DatabaseError(.misuse, "the statement no longer has a result") }
    do throws(DatabaseError) {
      try check(Int32(unsafe result.bind(to: statement)))
      while try fetch() {
        try each(try unsafe result.row(of: statement))
      }
    } catch {
      throw abandon(error)
    }
    try finish()
  }

  /// Returns buffers for the arriving result.
  ///
  /// Checked after each execution: an altered table changes the columns of a prepared statement, and the type of a
  /// column of arguments is known only now.
  private func currentBuffers() -> ResultBuffers? {
    guard let metadata = unsafe mysql_stmt_result_metadata(statement) else { return nil }
    defer { unsafe mysql_free_result(metadata) }
    if let result, unsafe result.fit(metadata) { return result }
    result = unsafe ResultBuffers(metadata: metadata, limit: columnLimit)
    return result
  }

  private func fetch() throws(DatabaseError) -> Bool {
    switch unsafe mysql_stmt_fetch(statement) {
    case 0, MYSQL_DATA_TRUNCATED: return true
    case MYSQL_NO_DATA: return false
    default: throw unsafe Self.error(of: statement, on: link)
    }
  }

  private func send(_ rows: ArraySlice<[SQLValue]>) throws(DatabaseError) {
    let count = rows.reduce(0) { $0 + $1.count }
    guard count == parameterCount else {
      throw DatabaseError(.misuse, "\(count) arguments for \(parameterCount) parameters")
    }
    let parameters = ParameterBuffers(rows)
    try check(Int32(unsafe parameters.bind(to: statement)))
    let status = unsafe mysql_stmt_execute(statement)
    withExtendedLifetime(parameters) {}
    try check(status)
  }

  /// Ends the result, and every further one (of a procedure), so that the next statement can be sent.
  private func finish() throws(DatabaseError) {
    result?.shrink()
    while true {
      try check(Int32(unsafe mysql_stmt_free_result(statement)))
      let next = unsafe mysql_stmt_next_result(statement)
      guard next >= 0 else { return }
      try check(next)
    }
  }

  /// Drops the rest of the result and returns the error, which matters more than a failure of this.
  private func abandon(_ error: DatabaseError) -> DatabaseError {
    unsafe mysql_stmt_free_result(statement)
    return error
  }

  private func check(_ status: Int32) throws(DatabaseError) {
    guard status != 0 else { return }
    throw unsafe Self.error(of: statement, on: link)
  }

  /// Returns the statement's error, otherwise the connection's.
  ///
  /// Connector/C sets an error that arrives among the rows (for example a deadlock) only on the connection.
  private static func error(of statement: UnsafeMutablePointer<MYSQL_STMT>, on link: MySQLHandle) -> DatabaseError {
    guard unsafe mysql_stmt_errno(statement) != 0 else { return link.lastError }
    return unsafe DatabaseError(
      number: Int(mysql_stmt_errno(statement)), message: String(cString: mysql_stmt_error(statement)))
  }
}

extension DatabaseError {
  /// Whether a new preparation fixes the error, and a repeated execution is safe.
  ///
  /// ER_UNKNOWN_STMT_HANDLER, ER_NEED_REPREPARE, and CR_NEW_STMT_METADATA, which only affects a statement with a
  /// result.
  var asksForPreparing: Bool { code == .other(1243) || code == .other(1615) || code == .other(2057) }

  /// Whether the server has its maximum of prepared statements, of all sessions (ER_MAX_PREPARED_STMT_COUNT_REACHED).
  ///
  /// Only a preparation gets this error: the statement was not executed.
  var asksForFewerStatements: Bool { code == .other(1461) }
}
