package import Database
package import Purchases
import Signing
package import Time

/// Makes everything that is derived from the inbox anew, beside what is there, and exchanges the two at once.
///
/// Readers see the old tables until the moment of exchange. What arrives meanwhile is written to the old ones, and read
/// from the inbox once more after it: doing it twice changes nothing.
package struct Rebuild: Sendable {
  /// Turns a stored message into findings again; throws to end the rebuild, with nothing changed.
  package typealias Reading = @Sendable (StoredMessage) throws -> Findings

  package struct Summary: Sendable {
    package var messages = 0
    /// Read again after the exchange, because they arrived meanwhile.
    package var late = 0
  }

  let configuration: DatabaseConfiguration
  private let read: Reading
  private let progress: @Sendable (Int) -> Void

  private static let page = 200
  /// A message may be committed that much later than it was received.
  static let overlap = Interval.minutes(10)
  private static let derived: [SQL] = [
    "purchases", "renewals", "app_transactions", "aliases", "links", "customers", "events",
  ]

  package init(
    _ configuration: DatabaseConfiguration, progress: @escaping @Sendable (Int) -> Void = { _ in },
    read: @escaping Reading
  ) {
    self.configuration = configuration
    self.progress = progress
    self.read = read
  }

  package func run(now: Milliseconds) async throws -> Summary {
    try await staged(now: now) { source, target, staging, messages in
      var summary = Summary()
      summary.messages = messages
      let database = configuration.database ?? ""
      // Most of what arrived meanwhile, so that little is missing for the moment after the exchange.
      _ = try await replay(from: source, into: target, since: now - Self.overlap)
      try await Self.retrying { () async throws(DatabaseError) in
        try await source.read { session throws(DatabaseError) in
          _ = try session.execute("REPLACE INTO unfinished_rebuilds (since) VALUES (\(now))")
          try session.run("RENAME TABLE " + Self.exchange(database, staging))
        }
      }
      do {
        summary.late = try await replay(from: source, into: source, since: now - Self.overlap)
        try await source.read { session throws(DatabaseError) in
          _ = try session.execute("DELETE FROM unfinished_rebuilds")
        }
      } catch {
        throw Incomplete(reason: "\(error)")
      }
      return summary
    }
  }

  /// Everything derived anew in a database beside ours, which is gone again afterwards, however `body` ends.
  func staged<R>(
    now: Milliseconds,
    _ body: (_ source: Connection, _ target: Connection, _ staging: String, _ messages: Int) async throws -> R
  ) async throws -> R {
    let source = try await Connection.open(configuration)
    try await Self.claim(configuration.database ?? "", source)
    let staging = "\(configuration.database ?? "")_rebuild"
    try await source.read { session throws(DatabaseError) in
      try session.run("DROP DATABASE IF EXISTS \(identifier: staging)")
      try session.run("CREATE DATABASE \(identifier: staging)")
    }
    let result: Result<R, any Error>
    do {
      let target = try await Connection.open(configuration.database(staging))
      _ = try await target.read { session throws(DatabaseError) in try Migrator().migrate(at: now, in: session) }
      let messages = try await replay(from: source, into: target, since: nil)
      result = .success(try await body(source, target, staging, messages))
      await target.close()
    } catch {
      result = .failure(error)
    }
    // Afterwards and not in between: what failed is told before what could not be tidied up.
    let tidied = await tidy(staging, source)
    await source.close()
    let value = try result.get()
    try tidied.get()
    return value
  }

  /// Makes sure that this is the only rebuild of the database, for as long as the connection lives.
  private static func claim(_ database: String, _ source: Connection) async throws {
    // MySQL's limit; two databases with one beginning wait for each other, no more.
    let name = String("rebuild \(database)".prefix(64))
    let isOurs = try await source.read { session throws(DatabaseError) in
      try session.query("SELECT GET_LOCK(\(name), 0) AS ours").first?.optionalInt("ours") == 1
    }
    guard isOurs else {
      await source.close()
      throw AlreadyRunning()
    }
  }

  private func tidy(_ staging: String, _ source: Connection) async -> Result<Void, DatabaseError> {
    do throws(DatabaseError) {
      try await source.read { session throws(DatabaseError) in
        try session.run("DROP DATABASE IF EXISTS \(identifier: staging)")
      }
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  /// All renames of one statement happen at once.
  private static func exchange(_ database: String, _ staging: String) -> SQL {
    derived.map { table -> SQL in
      """
      \(identifier: database).\(table) TO \(identifier: staging).old_\(table), \
      \(identifier: staging).\(table) TO \(identifier: database).\(table)
      """
    }.joined(separator: ", ")
  }

  func replay(
    from source: Connection, into target: Connection, since: Milliseconds?
  ) async throws -> Int {
    var last: Digest?
    var count = 0
    while true {
      let cursor = last
      let page = try await source.read { session throws(DatabaseError) in
        try InboxTable.page(after: cursor, receivedSince: since, limit: Self.page, in: session)
      }
      guard let end = page.last else { return count }
      last = end.message.digest
      var findings: [(App.ID, Findings)] = []
      for stored in page { findings.append((stored.app, try read(stored))) }
      let found = findings
      try await Self.retrying { () async throws(DatabaseError) in
        try await target.transaction { session throws(DatabaseError) in try Ledger.note(found, in: session) }
      }
      count += page.count
      progress(count)
    }
  }

  private static let attempts = 50

  /// Does it again when the service, which goes on writing, was in the way.
  private static func retrying(_ body: () async throws(DatabaseError) -> Void) async throws {
    for attempt in 1... {
      do throws(DatabaseError) { return try await body() } catch {
        guard error.isRetryable, error.code != .connectionLost, attempt < attempts else { throw error }
        try await Task.sleep(for: .milliseconds(5 * attempt))
      }
    }
  }
}

extension Rebuild {
  /// When a rebuild began that was cut off after its exchange: what arrived during it is missing until the next one.
  package static func unfinished(in session: borrowing Session) throws(DatabaseError) -> Milliseconds? {
    try session.query("SELECT MIN(since) AS since FROM unfinished_rebuilds").first?.optionalMilliseconds("since")
  }

  /// The exchange is done, but not everything that arrived meanwhile could be read: a rebuild anew brings it.
  package struct Incomplete: Error, CustomStringConvertible {
    let reason: String

    package var description: String {
      "the rebuild is exchanged, but messages that arrived meanwhile are missing; run it again (\(reason))"
    }
  }

  /// Another process rebuilds this database at the moment.
  package struct AlreadyRunning: Error, CustomStringConvertible {
    package var description: String { "another rebuild of this database is running; nothing was changed" }
  }
}
