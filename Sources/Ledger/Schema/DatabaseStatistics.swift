package import Database
package import Time

package struct DatabaseStatistics: Sendable {
  package let version: String
  /// 1 if every commit is on disk before its response.
  package let flushLogAtCommit: Int
  /// `nil` without a binary log.
  package let syncBinaryLog: Int?
  package let maximumPacket: Int
  /// The bytes of InnoDB's buffer pool, the maximum of table data in memory.
  package let bufferPool: Int64
  package let isReadOnly: Bool
  /// The server's clock.
  package let now: Timestamp

  package init(from session: Session) throws(DatabaseError) {
    let row = try session.query(
      """
      SELECT @@innodb_flush_log_at_trx_commit AS flush_log, @@log_bin AS log_bin, @@sync_binlog AS sync_binlog,
        @@max_allowed_packet AS packet, @@innodb_buffer_pool_size AS buffer_pool, @@global.read_only AS read_only,
        CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED) AS now
      """
    ).first
    guard let row else { throw DatabaseError(.column, "the server does not report its settings") }
    version = session.serverVersion
    flushLogAtCommit = try row.int("flush_log")
    syncBinaryLog = try row.bool("log_bin") ? try row.int("sync_binlog") : nil
    maximumPacket = try row.int("packet")
    bufferPool = try row.int64("buffer_pool")
    isReadOnly = try row.bool("read_only")
    now = try row.milliseconds("now")
  }

  package struct Table: Sendable {
    package let name: String
    package let rows: Int64
    package let bytes: Int64
  }

  /// Returns the tables of the database, largest first.
  ///
  /// The sizes are estimates, so that no rows are counted.
  package static func tables(in session: Session) throws(DatabaseError) -> [Table] {
    var tables: [Table] = []
    for row in try session.query(
      """
      SELECT TABLE_NAME AS name, COALESCE(TABLE_ROWS, 0) AS estimate,
        COALESCE(DATA_LENGTH, 0) + COALESCE(INDEX_LENGTH, 0) AS bytes
      FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'
      ORDER BY bytes DESC, name
      """)
    {
      tables.append(
        Table(name: try row.text("name"), rows: try row.int64("estimate"), bytes: try row.int64("bytes")))
    }
    return tables
  }
}
