package import Database
package import Purchases
import Runtime
package import Signing
package import Time

/// Makes everything that is derived from the inbox anew, beside what is there, and exchanges the two at once.
///
/// Readers see the old tables until the moment of exchange. What arrives meanwhile is written to the old ones, and read
/// from the inbox after it: doing it twice changes nothing.
package struct Rebuild: Sendable {
  /// Turns a stored message into findings again; throws to end the rebuild.
  ///
  /// What it throws reaches the caller as it is while nothing is changed, and inside a `Failure` afterwards; but for
  /// `LeftOut`, which leaves out this message alone.
  package typealias Reading = @Sendable (StoredMessage) throws -> Findings

  package struct Summary: Sendable {
    /// Read before the exchange.
    package var messages = 0
    /// Read after it, because they arrived meanwhile.
    package var late = 0
    /// Those of both that the reading left out.
    package var refused = Refused()
  }

  /// A reading throws it for a message that cannot be read any more, and that must not end the rebuild.
  package struct LeftOut: Error {
    /// Why, in one word.
    package let reason: String

    package init(because reason: String) { self.reason = reason }
  }

  /// Messages that were left out because they cannot be read any more; they stay in the inbox.
  package struct Refused: Hashable, Sendable {
    package var count = 0
    /// The first of them.
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

  /// The two databases of a rebuild under way, each with the connection that writes to it.
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
      // Most of what arrived meanwhile, too, so that little is missing for the moment after the exchange.
      let early = try await catchUp(stage, into: stage.target)
      (summary.messages, summary.refused) = (early.messages, early.refused)
      try Task.checkCancellation()
      // From here on stopping takes longer than going on: what arrived meanwhile would not show until the next rebuild.
      let late = try await withCancellationShield {
        try await exchange(stage, now: now)
        do {
          // Before anything else is learned under the new customers: what waits is put into order by them.
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

  /// Everything derived anew in a database beside ours, which is gone again afterwards, however `body` ends.
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
    // Afterwards and not in between: what failed is told before what could not be tidied up.
    let tidied = await drop(staging, source)
    await source.close()
    let value = try result.get()
    try tidied.get()
    return value
  }

  /// Makes sure that this is the only rebuild of the database, for as long as the connection lives.
  private func claim(_ source: Connection) async throws {
    // Seconds, since a server may notice late that the connection of a rebuild before this one is gone. 64: MySQL's limit;
    // two databases with one beginning wait for each other, no more.
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
      // A row that was there before tells of another rebuild, which is as unfinished as it was.
      let takenBack: Void? = try? await stage.source.read { session throws(DatabaseError) in
        if isNew { _ = try session.execute("DELETE FROM unfinished_rebuilds WHERE since = \(now)") }
      }
      // Over a connection that broke nothing can be taken back: the server may have done what was asked.
      throw Failure(takenBack == nil ? .exchangeUnknown : .notExchanged, "\(error)")
    }
  }

  /// What was read of the inbox.
  struct Caught {
    var messages = 0
    var refused = Refused()

    static func += (sum: inout Self, more: Self) {
      sum.messages += more.messages
      sum.refused += more.refused
    }
  }

  /// Reads what has not been read, again and again until nothing new is found.
  ///
  /// Not for ever: beside a busy service each pass finds what came during the one before. After the exchange the first
  /// is enough, for it begins when everything that was written to the old tables is committed. Throws between two pages
  /// when its task is cancelled.
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

  /// Does it again when the service, which goes on writing, was in the way.
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
  /// When a rebuild began that was cut off after its exchange: what arrived during it is missing until the next one.
  package static func unfinished(in session: borrowing Session) throws(DatabaseError) -> Timestamp? {
    try session.query("SELECT MIN(since) AS since FROM unfinished_rebuilds").first?.optionalMilliseconds("since")
  }
}
