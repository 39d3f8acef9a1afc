import CMariaDB

/// The one owner of a `MYSQL_STMT`: prepared in its initialiser, closed with its last reference.
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

  /// Runs it for its effect; a result set, if there is one, is read and dropped.
  ///
  /// The arguments are those of each row, one row after the other.
  func execute(_ rows: ArraySlice<[SQLValue]>) throws(DatabaseError) -> Outcome {
    try send(rows)
    let outcome = unsafe Outcome(
      affectedRows: mysql_stmt_affected_rows(statement), lastInsertID: mysql_stmt_insert_id(statement))
    try finish()
    return outcome
  }

  /// Runs it and hands over row after row as they arrive, none of them kept here.
  ///
  /// The rest of the result is read and dropped when `each` throws, so that the connection stays usable.
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

  /// Buffers for the result that is arriving.
  ///
  /// Looked at after each execution: an altered table changes the columns of a statement prepared before, and the kind
  /// of a column made of arguments is known only now.
  private func currentBuffers() -> ResultBuffers? {
    guard let metadata = unsafe mysql_stmt_result_metadata(statement) else { return nil }
    defer { unsafe mysql_free_result(metadata) }
    if let result, unsafe result.fit(metadata) { return result }
    result = unsafe ResultBuffers(metadata: metadata, limit: columnLimit)
    return result
  }

  /// Whether there is a row in the buffers; false at the end.
  ///
  /// An error of the server can arrive here too.
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

  /// Ends the result, with every further one (of a procedure), so that the next statement may be sent.
  private func finish() throws(DatabaseError) {
    result?.shrink()
    while true {
      try check(Int32(unsafe mysql_stmt_free_result(statement)))
      let next = unsafe mysql_stmt_next_result(statement)
      guard next >= 0 else { return }
      try check(next)
    }
  }

  /// The error, after the rest of the result was dropped; a failure of that is the lesser news.
  private func abandon(_ error: DatabaseError) -> DatabaseError {
    unsafe mysql_stmt_free_result(statement)
    return error
  }

  private func check(_ status: Int32) throws(DatabaseError) {
    guard status != 0 else { return }
    throw unsafe Self.error(of: statement, on: link)
  }

  /// What the statement says, else what the connection says.
  ///
  /// An error that arrives among the rows (a deadlock, say) Connector/C notes on the connection alone.
  private static func error(of statement: UnsafeMutablePointer<MYSQL_STMT>, on link: MySQLHandle) -> DatabaseError {
    guard unsafe mysql_stmt_errno(statement) != 0 else { return link.lastError }
    return unsafe DatabaseError(
      number: Int(mysql_stmt_errno(statement)), message: String(cString: mysql_stmt_error(statement)))
  }
}

extension DatabaseError {
  /// Whether preparing the statement anew is the cure, and running it again does no harm.
  ///
  /// ER_UNKNOWN_STMT_HANDLER, ER_NEED_REPREPARE, and CR_NEW_STMT_METADATA, which only a statement with a result can meet.
  var asksForPreparing: Bool { code == .other(1243) || code == .other(1615) || code == .other(2057) }

  /// Whether the server keeps as many prepared statements as it may (ER_MAX_PREPARED_STMT_COUNT_REACHED), of all sessions
  /// together.
  ///
  /// Only preparing meets it: nothing of the statement was run.
  var asksForFewerStatements: Bool { code == .other(1461) }
}
