package import Adapter
package import Database
package import Ledger
package import Service
package import Signing
package import Time

/// Takes secrets out of messages that were stored with them.
package struct RedactSecrets: Sendable {
  private let pool: Pool
  private let search: SecretSearch
  private let clock: WallClock

  /// - Parameter adapter: tells whether a message can still be read when a secret was taken out of it.
  package init(_ pool: Pool, _ keys: Keyring, readBy adapter: Adapter, clock: WallClock) {
    self.pool = pool
    self.clock = clock
    search = SecretSearch(pool: pool, keys: keys, adapter: adapter) { clock.now() }
  }

  /// How many messages hold secrets: everything is searched, and nothing is changed.
  ///
  /// - Parameter note: hears what each page came to.
  package func plan(
    noting note: (SecretSearchTable.Part, SecretSearch.Summary) -> Void
  ) async throws -> SecretSearch.Summary {
    try await search.rehearse { note($0, $1) }
  }

  /// Searches what is left to be searched; each page is a transaction of its own, and stays when the task is cancelled.
  ///
  /// The audit entry follows the last page, with the number of messages that were changed.
  ///
  /// - Parameters:
  ///   - again: from the beginning, also what was searched before.
  ///   - note: hears what each page came to.
  ///   - settling: hears for how long the search waits until every node knows the newest secret.
  package func apply(
    again: Bool, by author: Author, noting note: (SecretSearchTable.Part, SecretSearch.Summary) -> Void,
    settling: (Interval) -> Void
  ) async throws -> SecretSearch.Summary {
    if again {
      try await pool.transaction { session throws(DatabaseError) in try SecretSearchTable.restart(in: session) }
    }
    let summary = try await search.run(noting: { note($0, $1) }, settling: settling)
    if summary.changed > 0 {
      let now = clock.now()
      try await pool.transaction { session throws(DatabaseError) in
        try author.note("db.redact", of: "database", "\(summary.changed) messages", at: now, in: session)
      }
    }
    return summary
  }
}
