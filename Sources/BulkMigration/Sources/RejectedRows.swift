package import Backfill
package import Database
import JSON
package import Ledger
package import Signing

/// The rejected rows of a job as they stand in its sources, with their reasons, to be mended and fed again.
///
/// The ledger knows where they are and why; they are read from the sources once more, which have to be what they were.
package struct RejectedRows {
  private let connection: Connection
  private let job: Int
  private let keys: () throws -> Keyring

  private static let page = 10_000

  /// - Parameter keys: opens the password of a table's database, if there is one.
  package init(of job: Int, _ connection: Connection, keys: @escaping () throws -> Keyring) {
    (self.connection, self.job, self.keys) = (connection, job, keys)
  }

  /// Writes them in the input's own form where there is one file, else as JSON Lines; how many.
  ///
  /// - Parameter formulas: counts the cells of a table that a spreadsheet would run.
  package func write(
    _ parts: [MigrationPartReport], _ formulas: inout FormulaCells, to sink: ([UInt8]) throws -> Void
  ) async throws -> Int {
    var count = 0
    for part in parts {
      var waiting = Waiting(rejects: self, part: part.number)
      guard try await waiting.fill() else { continue }
      let source = try MigrationSource(stored: part.source)
      switch source {
      case .files(let files):
        let isNamed = files.isFolder || parts.count > 1
        count += try await write(&waiting, of: files, isNamed: isNamed, &formulas, to: sink)
      case .table(let table): count += try await write(&waiting, of: table, sealed: part.sealed, to: sink)
      }
    }
    return count
  }

  /// The rejects of a part that are not written yet, in the order of the part.
  private struct Waiting {
    let rejects: RejectedRows
    let part: Int
    var records: ArraySlice<MigrationRejectTable.Record> = []
    private var last: Int64 = 0
    private var isAll = false

    init(rejects: RejectedRows, part: Int) { (self.rejects, self.part) = (rejects, part) }

    /// Reads on; false when there are none.
    mutating func fill() async throws -> Bool {
      if isAll { return !records.isEmpty }
      let (job, part, last) = (rejects.job, part, last)
      let more = try await rejects.connection.read { session throws(DatabaseError) in
        try MigrationRejectTable.page(of: job, part: part, after: last, limit: RejectedRows.page, in: session)
      }
      isAll = more.count < RejectedRows.page
      self.last = more.last?.number ?? last
      records += more
      return !records.isEmpty
    }

    /// Whether all that are before `end` in this file were read.
    func isRead(to end: Int, of file: String?) -> Bool {
      guard !isAll, let last = records.last else { return isAll }
      return last.place.file != file || last.place.position >= Int64(end)
    }

    mutating func next(in file: String?, at position: Int) -> MigrationRejectTable.Record? {
      guard let record = records.first, record.place.file == file, record.place.position == Int64(position) else {
        return nil
      }
      records.removeFirst()
      return record
    }
  }

  private func write(
    _ waiting: inout Waiting, of files: FileSource, isNamed: Bool, _ formulas: inout FormulaCells,
    to sink: ([UInt8]) throws -> Void
  ) async throws -> Int {
    var (count, hasHeading) = (0, false)
    var batches = try FileBatches(files, from: .start)
    while let batch = try await batches.next() {
      switch batch.content {
      case .rows: continue
      case .damaged(let file):
        while !waiting.isRead(to: .max, of: file) { _ = try await waiting.fill() }
        guard let record = waiting.records.first, record.place.position == .max else { continue }
        waiting.records.removeFirst()
        let line: JSONObject = ["file": .string(file ?? files.path), "reason": .string(record.reason)]
        try sink(line.encoded() + [0x0A])
        count += 1
      case .block(let block):
        while !waiting.isRead(to: block.end, of: block.file) { _ = try await waiting.fill() }
        var output: [UInt8] = []
        block.forEachRow { row in
          guard let record = waiting.next(in: block.file, at: row.position) else { return }
          Rejection.append(
            row, RejectReason(word: record.reason), of: block, isNamed: isNamed, &formulas, to: &output)
          count += 1
        }
        guard !output.isEmpty else { continue }
        if !hasHeading, let heading = Rejection.heading(of: block.format, isNamed: isNamed) { try sink(heading) }
        hasHeading = true
        try sink(output)
      }
    }
    return count
  }

  private func write(
    _ waiting: inout Waiting, of table: TableSource, sealed: [UInt8]?, to sink: ([UInt8]) throws -> Void
  ) async throws -> Int {
    let configuration = try table.configuration(sealed: sealed, sealed == nil ? nil : keys())
    let batches = try await TableBatches(table, configuration, from: .start, mostRows: 1)
    let result: Result<Int, any Error>
    do { result = .success(try await write(&waiting, read: batches, to: sink)) } catch { result = .failure(error) }
    await batches.close()
    return try result.get()
  }

  private func write(
    _ waiting: inout Waiting, read batches: TableBatches, to sink: ([UInt8]) throws -> Void
  ) async throws -> Int {
    var count = 0
    while try await waiting.fill(), let record = waiting.records.popFirst() {
      var row: TableRow?
      if let key = record.place.key { row = try await batches.row(key) }
      var line: JSONObject = ["key": .string(record.place.key ?? "")]
      line["app"] = (row?.app).map(JSONValue.string)
      line["user_id"] = (row?.userID).map(JSONValue.string)
      line["receipt"] = (row?.content).map { .string(Self.text($0)) }
      line["reason"] = .string(record.reason)
      try sink(line.encoded() + [0x0A])
      count += 1
    }
    return count
  }

  /// Bytes of a receipt are no text; base64 is read again.
  private static func text(_ bytes: [UInt8]) -> String {
    String(validating: bytes, as: UTF8.self) ?? String(decoding: Base64.standard.encode(bytes), as: UTF8.self)
  }
}
