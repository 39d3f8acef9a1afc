package import Database
package import Purchases
import Runtime
package import Signing
package import Time

/// Derives all data from the inbox again into a second database, and exchanges the tables in one statement.
///
/// Readers see the old tables until then. Messages that arrive meanwhile are read from the inbox after it.
package struct Rebuild: Sendable {
  /// Parses a stored message into findings.
  ///
  /// An error ends the rebuild. Before the exchange the caller gets it unchanged, afterwards in a `Failure`. `LeftOut`
  /// only skips this message.
  package typealias Reading = @Sendable (StoredMessage) throws -> Findings

  package struct Summary: Sendable {
    /// Messages read before the exchange.
    package var messages = 0
    /// Messages read after the exchange, because they arrived meanwhile.
    package var late = 0
    /// Skipped messages of both.
    package var refused = Refused()
  }

  /// An error that skips an unreadable message and does not end the rebuild.
  package struct LeftOut: Error {
    package let reason: String

    package init(because reason: String) { self.reason = reason }
  }

  /// Unreadable messages that were skipped.
  ///
  /// They stay in the inbox.
  package struct Refused: Hashable, Sendable {
    package var count = 0
    package var examples: [Example] = []

    package struct Example: Hashable, Sendable {
      package let digest: Digest
      package let reason: String
    }

    private static let mostExamples = 10

    static func += (sum: inout Self, more: Self) {
      sum.count += more.count
      sum.examples += more.examples.prefix(max(0, mostExamples - sum.examples.count))
    }
  }

  struct Stage: Sendable {
    let staging: Staging
    let source: Connection
    let target: Connection
  }

  let configuration: DatabaseConfiguration
  private let bodies: BodyVault
  private let read: Reading
  private let progress: @Sendable (Int) -> Void

  private static let page = 200
  private static let passes = 10

  package init(
    _ configuration: DatabaseConfiguration, _ keys: Keyring, progress: @escaping @Sendable (Int) -> Void = { _ in },
    read: @escaping Reading
  ) {
    self.configuration = configuration
    bodies = BodyVault(keys)
    self.progress = progress
    self.read = read
  }

  package func run(now: Timestamp) async throws -> Summary {
    try await staged(now: now) { stage in
      var summary = Summary()
      // Includes most messages that arrived meanwhile, so that few are missing right after the exchange.
      let early = try await catchUp(stage, into: stage.target)
      (summary.messages, summary.refused) = (early.messages, early.refused)
      try Task.checkCancellation()
      // From here on a stop takes longer than the rest: without it, messages that arrived meanwhile would be missing
      // until the next rebuild.
      let late = try await withCancellationShield {
        try await exchange(stage, now: now)
        do {
          // Before any data is written under the new customers, which determine the order of queued messages.
          try await Self.retrying(Self.attempts) { () async throws(DatabaseError) in
            try await stage.source.transaction { session throws(DatabaseError) in try OutboxTable.unsort(in: session) }
          }
          let late = try await catchUp(stage, into: stage.source)
          try await stage.source.read { session throws(DatabaseError) in
            _ = try session.execute("DELETE FROM unfinished_rebuilds")
          }
          return late
        } catch {
          throw Failure(.incomplete, "\(error)")
        }
      }
      summary.late = late.messages
      summary.refused += late.refused
      return summary
    }
  }

  /// Derives all data in a second database, runs `body`, and always deletes that database.
  func staged<R>(now: Timestamp, _ body: (Stage) async throws -> R) async throws -> R {
    let source = try await Connection.open(configuration)
    let staging = Staging(beside: configuration.database ?? "")
    do {
      try await claim(source)
      try await staging.claim(on: source)
    } catch {
      await source.close()
      throw error
    }
    let result: Result<R, any Error>
    do {
      try await source.read { session throws(DatabaseError) in try staging.mark(in: session) }
      let target = try await Connection.open(configuration.database(staging.name))
      _ = try await target.read { session throws(DatabaseError) in try Migrator().migrate(at: now, in: session) }
      result = .success(try await body(Stage(staging: staging, source: source, target: target)))
      await target.close()
    } catch {
      result = .failure(error)
    }
    // Last, so that an error of `body` takes precedence over an error of the cleanup.
    let tidied = await drop(staging, source)
    await source.close()
    let value = try result.get()
    try tidied.get()
    return value
  }

  /// Ensures that this is the only rebuild of the database while the connection lives.
  private func claim(_ source: Connection) async throws {
    // Three seconds, since a server may notice late that an earlier connection is gone. MySQL limits names to 64
    // characters: two databases with the same prefix only wait for each other.
    let name = String("rebuild \(configuration.database ?? "")".prefix(64))
    let isOurs = try await source.read { session throws(DatabaseError) in
      try session.query("SELECT GET_LOCK(\(name), 3) AS ours").first?.optionalInt("ours") == 1
    }
    guard isOurs else { throw Failure(.alreadyRunning, name) }
  }

  private func drop(_ staging: Staging, _ source: Connection) async -> Result<Void, DatabaseError> {
    do throws(DatabaseError) {
      return .success(try await source.read { session throws(DatabaseError) in try staging.drop(in: session) })
    } catch {
      return .failure(error)
    }
  }

  private static let exchangeAttempts = 10

  private func exchange(_ stage: Stage, now: Timestamp) async throws {
    let isNew = try await stage.source.read { session throws(DatabaseError) in
      try session.execute("INSERT IGNORE INTO unfinished_rebuilds (since) VALUES (\(now))").affectedRows > 0
    }
    do {
      try await Self.retrying(Self.exchangeAttempts) { () async throws(DatabaseError) in
        try await stage.source.read { session throws(DatabaseError) in try stage.staging.exchange(in: session) }
      }
    } catch {
      // An older row belongs to another rebuild, which is still unfinished.
      let takenBack: Void? = try? await stage.source.read { session throws(DatabaseError) in
        if isNew { _ = try session.execute("DELETE FROM unfinished_rebuilds WHERE since = \(now)") }
      }
      // Without a connection the row cannot be deleted: the server may have executed the exchange.
      throw Failure(takenBack == nil ? .exchangeUnknown : .notExchanged, "\(error)")
    }
  }

  struct Caught {
    var messages = 0
    var refused = Refused()

    static func += (sum: inout Self, more: Self) {
      sum.messages += more.messages
      sum.refused += more.refused
    }
  }

  /// Reads new messages, repeatedly until there are no more.
  ///
  /// The passes are limited, since a busy service adds messages. After the exchange one is enough. It throws between
  /// two pages if its task is cancelled.
  func catchUp(_ stage: Stage, into target: Connection) async throws -> Caught {
    var caught = Caught()
    for _ in 0..<Self.passes {
      let found = try await pass(stage, into: target)
      if found.messages == 0 { break }
      caught += found
    }
    return caught
  }

  private func pass(_ stage: Stage, into target: Connection) async throws -> Caught {
    var last: Digest?
    var caught = Caught()
    while true {
      try Task.checkCancellation()
      let cursor = last
      let page = try await stage.source.read { session throws(DatabaseError) in
        try stage.staging.unseen(after: cursor, limit: Self.page, bodies, in: session)
      }
      guard let end = page.last else { return caught }
      last = end.message.digest
      var messages: [(message: InboxMessage, app: App.ID, findings: Findings)] = []
      for stored in page {
        do { messages.append((stored.message, stored.app, try read(stored))) } catch let leftOut as LeftOut {
          let example = Refused.Example(digest: stored.message.digest, reason: leftOut.reason)
          caught.refused += Refused(count: 1, examples: [example])
        }
      }
      let found = messages
      try await Self.retrying(Self.attempts) { () async throws(DatabaseError) in
        try await target.transaction { session throws(DatabaseError) in
          if !found.isEmpty { try LedgerStore.note(found, in: session) }
          try stage.staging.note(page, in: session)
        }
      }
      caught.messages += page.count
      progress(caught.messages)
    }
  }

  private static let attempts = 50

  /// Retries while the running service conflicts with the statement.
  private static func retrying(_ attempts: Int, _ body: () async throws(DatabaseError) -> Void) async throws {
    for attempt in 1... {
      do throws(DatabaseError) { return try await body() } catch {
        guard error.isRetryable, error.code != .connectionLost, attempt < attempts else { throw error }
        try await Task.sleep(for: .milliseconds(5 * attempt))
      }
    }
  }
}

extension Rebuild {
  /// Returns the start of a rebuild that was interrupted after its exchange.
  ///
  /// Messages that arrived during it are missing until the next rebuild.
  package static func unfinished(in session: borrowing Session) throws(DatabaseError) -> Timestamp? {
    try session.query("SELECT MIN(since) AS since FROM unfinished_rebuilds").first?.optionalMilliseconds("since")
  }
}
