package import Adapter
package import Database
package import Ledger
package import Signing
package import Time

/// Takes secrets out of what earlier builds kept in clear, and out of what was kept before a secret was registered.
///
/// Finds what `HiddenSecrets` finds in messages that arrive, also secrets that are retired. A page is read and searched, and
/// then written by a transaction, which notes how far it came: killed at any instant, the search goes on there.
package struct SecretSearch: Sendable {
  /// What was searched and changed of each part.
  package struct Summary: Hashable, Sendable {
    package var searched = 0
    package var changed = 0
    /// Of those that were searched, how many could not be read, or not be written without their secrets.
    package var skipped = 0
  }

  private let pool: Pool
  private let keys: Keyring
  private let adapter: Adapter
  private let now: @Sendable () -> Milliseconds
  private let sleep: @Sendable (Interval) async -> Void

  /// - Parameters:
  ///   - adapter: tells whether a message can still be read when a secret was taken out of it.
  ///   - sleep: waits for an interval, or until the task is cancelled.
  package init(
    pool: Pool, keys: Keyring, adapter: Adapter, now: @escaping @Sendable () -> Milliseconds,
    sleep: @escaping @Sendable (Interval) async -> Void = {
      try? await Task.sleep(for: .milliseconds($0.milliseconds))
    }
  ) {
    self.pool = pool
    self.keys = keys
    self.adapter = adapter
    self.now = now
    self.sleep = sleep
  }

  package func isDue() async throws(DatabaseError) -> Bool {
    try await pool.read { session throws(DatabaseError) in try !SecretSearchTable.due(in: session).isEmpty }
  }

  /// Returns the marks of the secrets that open here, and did not where stored messages were searched.
  func missed() async throws(DatabaseError) -> Set<Digest> {
    let keys = keys
    return try await pool.read { session throws(DatabaseError) in
      let unopened = try SecretSearchTable.unopened(in: session)
      guard !unopened.isEmpty else { return [] }
      let opened = try CredentialTable.open(.sharedSecret, with: keys, retired: true, in: session).opened
      return unopened.intersection(opened.map { CredentialTable.mark(of: $0.app, $0.name) })
    }
  }

  /// Begins anew with the next run.
  func restart() async throws(DatabaseError) {
    try await pool.transaction { session throws(DatabaseError) in try SecretSearchTable.restart(in: session) }
  }

  /// Searches what is left to be searched; returns when all parts are finished, or the task is cancelled.
  ///
  /// A secret that does not open under these keys is not searched for, and it is noted that it was not.
  ///
  /// - Parameters:
  ///   - noting: hears what each page came to, after its commit, and may wait.
  ///   - settling: hears for how long the search waits before it begins, or begins anew.
  package func run(
    noting: (SecretSearchTable.Part, Summary) async -> Void = { _, _ in }, settling: (Interval) -> Void = { _ in }
  ) async throws -> Summary {
    var all = Summary()
    var settled: Digest?
    repeat {
      let secrets = try await settle(after: settled, noting: settling)
      if Task.isCancelled { break }
      settled = secrets
      if try await run(&all, for: secrets, noting) { break }
    } while true
    return all
  }

  /// Returns false when other secrets were registered meanwhile, for which everything is to be searched again.
  private func run(
    _ all: inout Summary, for settled: Digest, _ noting: (SecretSearchTable.Part, Summary) async -> Void
  ) async throws -> Bool {
    let (page, secrets) = try await page()
    guard secrets == settled else { return false }
    for part in SecretSearchTable.Part.allCases {
      while !Task.isCancelled {
        guard let outcome = try await step(part, page, secrets) else { return false }
        all.searched += outcome.searched
        all.changed += outcome.changed
        all.skipped += outcome.skipped
        guard outcome.position != nil else { break }
        await noting(part, all)
      }
    }
    return true
  }

  /// Searches the next page and writes what was found; nil when other secrets were registered meanwhile.
  private func step(
    _ part: SecretSearchTable.Part, _ page: SecretSearchPage, _ secrets: Digest
  ) async throws(DatabaseError) -> SecretSearchPage.Outcome? {
    // Long bodies are searched for seconds, and the server ends a transaction that says nothing for long.
    let found = try await pool.read { session throws(DatabaseError) in
      try page.search(part, for: secrets, in: session)
    }
    guard let found else { return nil }
    if found.isFinished { return found.outcome }
    let now = now()
    return try await again(onDeadlocks: Self.deadlocks) { () async throws(DatabaseError) in
      try await pool.transaction(replayable: true) { session throws(DatabaseError) in
        try page.write(found, for: secrets, at: now, in: session)
      }
    }
  }

  /// How often a page is begun again that had to give way to somebody else's commits.
  private static let deadlocks = 5

  /// Does a page again that had to give way: a page of long bodies takes longer than the pool tries a transaction again.
  private func again<Value>(
    onDeadlocks most: Int, _ page: () async throws(DatabaseError) -> Value
  ) async throws(DatabaseError) -> Value {
    for _ in 0..<most {
      do throws(DatabaseError) { return try await page() } catch {
        guard error.code == .deadlock, !Task.isCancelled else { throw error }
      }
    }
    return try await page()
  }

  /// Waits until every process knows the secrets that are registered, which it returns.
  ///
  /// What a process stores before that may hold the secret, at a position that the search has passed. Returns early when
  /// the task is cancelled.
  ///
  /// - Parameters:
  ///   - before: those for which it waited before; nil for none.
  ///   - noting: hears for how long, when there is anything to wait for.
  private func settle(
    after before: Digest?, noting: (Interval) -> Void
  ) async throws(DatabaseError) -> Digest {
    var waitedFor = before
    while true {
      let (secrets, isDue, last) = try await pool.snapshot { session throws(DatabaseError) in
        (
          try SecretSearchTable.registered(in: session), try !SecretSearchTable.due(in: session).isEmpty,
          try SecretSearchTable.registeredAt(in: session)
        )
      }
      guard isDue, let last, secrets != waitedFor else { return secrets }
      // All of it for one that was registered since this run began: whose clock named its time is not known.
      let passed = waitedFor == nil ? max(0, now().sinceEpoch - last.sinceEpoch) : 0
      let left = Self.settling.milliseconds - passed
      guard left > 0 else { return secrets }
      noting(.milliseconds(left))
      await sleep(.milliseconds(left))
      if Task.isCancelled { return secrets }
      waitedFor = secrets
    }
  }

  /// Three times as long as a process takes to read the directory again.
  private static let settling = Interval.seconds(15)

  /// Says what a search of everything would change, and changes nothing.
  package func rehearse(
    noting: (SecretSearchTable.Part, Summary) async -> Void = { _, _ in }
  ) async throws -> Summary {
    let (page, _) = try await page()
    var all = Summary()
    for part in SecretSearchTable.Part.allCases {
      var position: [UInt8] = []
      while !Task.isCancelled {
        let after = position
        let outcome = try await pool.read { session throws(DatabaseError) in
          try page.search(part, after: after, in: session).outcome
        }
        all.searched += outcome.searched
        all.changed += outcome.changed
        all.skipped += outcome.skipped
        guard let end = outcome.position else { break }
        position = end
        await noting(part, all)
      }
    }
    return all
  }

  private func page() async throws -> (SecretSearchPage, Digest) {
    let keys = keys
    // In one snapshot: a secret that is registered meanwhile must not count as one that was searched for.
    let (directory, secrets) = try await pool.snapshot { session throws(DatabaseError) in
      (try AppTable.directory(with: keys, in: session), try SecretSearchTable.registered(in: session))
    }
    let redaction = StoredRedaction(key: keys.current, secrets: directory.secretFilter, adapter: adapter)
    let page = SecretSearchPage(unopened: directory.unopened.map(\.mark), redact: redaction.redacted)
    return (page, secrets)
  }
}
