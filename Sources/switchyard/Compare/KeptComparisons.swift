import Comparison
import Database
import Ledger
import Runtime
import Shadow
import Signing

/// The newest comparisons, whose responses are read one at a time because all may not fit into memory.
struct KeptComparisons {
  struct One {
    let row: ComparisonTable.Row
    let app: String
    let pair: ResponsePair
  }

  private let found: CompareCommand.Found
  private let keys: Keyring?
  private let connection: Connection

  /// Whether older ones exist beyond `--limit`.
  var hasMore: Bool { found.hasMore }

  init(
    _ arguments: ParsedArguments, _ connection: Connection, _ key: MasterKeyOptions, _ terminal: Terminal
  ) async throws {
    found = try await CompareCommand.comparisons(arguments, connection, differing: false, keptAlone: true)
    keys = found.rows.isEmpty ? nil : try await key.keys(for: connection, terminal)
    self.connection = connection
  }

  /// Reads comparisons with stored responses, newest first, until the command is stopped.
  ///
  /// - Returns: the number whose responses are deleted, or that the master key does not open.
  func forEach(_ body: (One) throws -> Void) async throws -> Int {
    var gone = 0
    for (row, app) in found.rows where !Task.isCancelled {
      let sealed = try await connection.read { session throws(DatabaseError) in
        try ComparisonTable.body(of: row.id, in: session)
      }
      guard let keys, let sealed, let pair = ShadowComparer.pair(sealed, of: row.id, with: keys) else {
        gone += 1
        continue
      }
      try body(One(row: row, app: app, pair: pair))
    }
    return gone
  }
}
