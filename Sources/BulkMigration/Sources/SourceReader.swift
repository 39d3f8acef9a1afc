import Database
package import Ledger
package import Signing

/// Reads the batches of a part, whatever its source is.
package enum SourceReader: Sendable {
  case files(FileBatches)
  case table(TableBatches)

  /// - Parameter mostRows: of a table's page.
  package static func open(_ part: MigrationPart, _ keys: Keyring?, mostRows: Int?) async throws -> Self {
    switch try MigrationSource(stored: part.source) {
    case .files(let files): return .files(try FileBatches(files, from: part.place))
    case .table(let table):
      let configuration = try table.configuration(sealed: part.sealed, keys)
      return .table(try await TableBatches(table, configuration, from: part.place, mostRows: mostRows))
    }
  }

  /// - Parameter mayRead: waits until so many rows of somebody's database may be read.
  package mutating func next(_ mayRead: (Int) async -> Void) async throws -> SourceBatch? {
    switch self {
    case .files(var files):
      let batch = try await files.next()
      self = .files(files)
      return batch
    case .table(var table):
      await mayRead(table.nextRows)
      if Task.isCancelled { return nil }
      let batch = try await table.next()
      self = .table(table)
      return batch
    }
  }

  /// Whether the source itself is held to the rate, and not only what is written of it.
  var isHeldToRate: Bool {
    switch self {
    case .files: false
    case .table: true
    }
  }

  package func close() async {
    switch self {
    case .files: return
    case .table(let table): await table.close()
    }
  }
}
