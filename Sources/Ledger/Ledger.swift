package import Database
package import Purchases
import Signing
import Synchronization
import Time

/// What is known, in MySQL: every accepted message, and what all of them together say.
package final class Ledger: Sendable {
  package let pool: Pool
  /// Certificate headers that are in the database for sure; Apple uses a handful.
  private let writtenHeaders = Mutex<Set<Digest>>([])

  private static let headersRemembered = 1_000

  /// What quarantine keeps, as it was a moment ago, with what this process has added since.
  private struct Known {
    var usage: [QuarantineSource: QuarantineUsage]
    let readAt: ContinuousClock.Instant
  }

  private let quarantined = Mutex<Known?>(nil)
  private static let usageLifetime = Duration.seconds(5)

  /// Messages of this process that nobody vouches for and that were set aside without being forwarded.
  private let unforwarded = Mutex(0)

  package init(pool: Pool) { self.pool = pool }

  /// How many messages that nobody vouches for were not forwarded since this was last asked, because too many waited.
  package func takeUnforwarded() -> Int {
    unforwarded.withLock { count in
      defer { count = 0 }
      return count
    }
  }

  /// An app in one environment: the world within which ids mean something.
  package struct Scope: Hashable, Sendable, Comparable {
    package let app: App.ID
    package let environment: Environment

    package init(app: App.ID, environment: Environment) {
      self.app = app
      self.environment = environment
    }

    var columns: [SQLValue] { [.integer(Int64(app.number)), .integer(Int64(environment.code))] }

    package static func < (a: Self, b: Self) -> Bool { (a.app, a.environment) < (b.app, b.environment) }
  }

  /// Writes the entries in one transaction; what became of each, in their order, once it is committed.
  ///
  /// Doing it twice is the same as doing it once, whatever the order and whoever else writes: that is why a commit whose
  /// outcome is unknown can be answered by doing it again. What is new and has an addressee is in the outbox of every
  /// destination of his by the same commit.
  package func append(_ entries: [Entry]) async throws(DatabaseError) -> [Appended] {
    let arrival = [UInt8].random(count: 16)
    let headers = writtenHeaders.withLock { $0 }
    let usage = entries.allSatisfy(\.isAccepted) ? [:] : try await quarantineUsage()
    let (appended, left) = try await pool.transaction(replayable: true) { session throws(DatabaseError) in
      try Batch(entries).write(arrival: arrival, knownHeaders: headers, quarantine: usage, in: session)
    }
    if left > 0 { unforwarded.withLock { $0 += left } }
    noteQuarantined(entries, appended)
    writtenHeaders.withLock { written in
      if written.count > Self.headersRemembered { written.removeAll() }
      // Of what was not written because the stage had changed, no header was either.
      for (entry, outcome) in zip(entries, appended) where outcome != .stageChanged {
        if case .accepted(let accepted) = entry.content { written.formUnion(accepted.body.headers.keys) }
      }
    }
    return appended
  }

  private func quarantineUsage() async throws(DatabaseError) -> [QuarantineSource: QuarantineUsage] {
    if let known = quarantined.withLock({ $0 }), .now - known.readAt < Self.usageLifetime { return known.usage }
    let usage = try await pool.read { session throws(DatabaseError) in try QuarantineTable.usage(in: session) }
    quarantined.withLock { $0 = Known(usage: usage, readAt: .now) }
    return usage
  }

  private func noteQuarantined(_ entries: [Entry], _ appended: [Appended]) {
    quarantined.withLock { known in
      for (entry, outcome) in zip(entries, appended) where outcome == .quarantined {
        guard case .quarantined(let refusal) = entry.content else { continue }
        known?.usage[refusal.source, default: QuarantineUsage()].add(entry.message.body.count)
      }
    }
  }

  /// Writes what messages taught, without the messages: for a rebuild, which has them.
  static func note(
    _ messages: [(message: InboxMessage, app: App.ID, findings: Findings)], in session: borrowing Session
  ) throws(DatabaseError) {
    let findings = messages.map { ($0.app, $0.findings) }
    try PurchaseTable.note(findings.flatMap { app, found in found.purchases.map { (app, $0) } }, in: session)
    try RenewalTable.note(findings.flatMap { app, found in found.renewals.map { (app, $0) } }, in: session)
    try AppTransactionTable.note(
      findings.flatMap { app, found in found.appTransactions.map { (app, $0) } }, in: session)
    try AliasTable.note(findings, in: session)
    try AttributionTable.note(findings, in: session)
    try WaitingUserIDTable.note(findings, in: session)
    try EventTable.note(findings.flatMap { app, found in found.events.map { (app, $0) } }, in: session)
    try CustomerTable.note(findings, in: session)
    try ClaimedLinkTable.note(messages, in: session)
    try SeedTable.note(messages, in: session)
  }
}

/// Entries that are committed together.
private struct Batch {
  let entries: [Entry]

  init(_ entries: [Entry]) { self.entries = entries }

  func write(
    arrival: [UInt8], knownHeaders: Set<Digest>, quarantine usage: [QuarantineSource: QuarantineUsage],
    in session: borrowing Session
  ) throws(DatabaseError) -> (appended: [Appended], unforwarded: Int) {
    let roads = try OutboxTable.roads(of: Set(entries.compactMap { $0.addressee?.scope.app }), in: session)
    let isStale = try stale(by: roads, in: session)
    // The first of each body counts; one that was accepted before any that was refused, whatever their order.
    var first: [Digest: Int] = [:]
    for (index, entry) in entries.enumerated() where !isStale[index] {
      let known = first[entry.message.digest]
      if known == nil || (entry.isAccepted && known.map({ entries[$0].isAccepted }) == false) {
        first[entry.message.digest] = index
      }
    }
    var accepted: [(InboxMessage, Entry.Acceptance)] = []
    var refused: [(InboxMessage, Entry.Refusal)] = []
    for (index, entry) in entries.enumerated() where first[entry.message.digest] == index && !isStale[index] {
      switch entry.content {
      case .accepted(let acceptance): accepted.append((entry.message, acceptance))
      case .quarantined(let refusal): refused.append((entry.message, refusal))
      }
    }
    let known = try InboxTable.insert(accepted, arrival: arrival, in: session)
    let new = accepted.filter { !known.contains($0.0.digest) }
    try InboxTable.insertBodies(
      new.map { (message: $0, compact: $1.body) }, knownHeaders: knownHeaders, in: session)
    try ClaimTable.note(claims(of: new, refused), in: session)
    let messages = new.map { (message: $0, app: $1.app, findings: $1.findings) }
    let reports = try ClaimedReport.all(in: messages, session)
    let unasked = try HistoryTable.unaskedOriginals(in: messages, reports, session)
    try Ledger.note(messages, in: session)
    try ClaimedChangeTable.queue(reports, in: session)
    let arrived = messages.flatMap { message, app, findings in
      let claimed = findings.claimedOriginals.subtracting(
        unasked[Ledger.Scope(app: app, environment: findings.environment)] ?? [])
      return findings.seeds.filter { !claimed.contains($0.transactionID) }.map {
        (app: app, seed: $0, arrivedAt: message.receivedAt)
      }
    }
    try WorkTable.enqueue(Self.placed(arrived, in: session), in: session)
    try ConsumptionTable.open(
      new.flatMap { message, accepted in
        accepted.findings.events.map {
          ConsumptionTable.News(app: accepted.app, event: $0, receivedAt: message.receivedAt)
        }
      }, in: session)
    let (keptBefore, full) = try quarantine(refused, usage, in: session)
    // What Apple sends goes on to the app's own endpoints once, also what is set aside here with a reason.
    var outgoing: [OutboxTable.Outgoing] = []
    for (index, entry) in entries.enumerated() where first[entry.message.digest] == index && !isStale[index] {
      guard let addressee = entry.addressee else { continue }
      let digest = entry.message.digest
      switch entry.content {
      case .accepted(let acceptance):
        guard !known.contains(digest) else { continue }
        outgoing.append(
          .init(
            message: digest, addressee: addressee, proof: addressee.proof, size: entry.size,
            members: acceptance.findings.members))
      case .quarantined(let refusal):
        guard !keptBefore.contains(digest), !full.contains(refusal.source) else { continue }
        outgoing.append(
          .init(message: digest, addressee: addressee, proof: .unproven, size: entry.size, members: []))
      }
    }
    let unforwarded = try OutboxTable.enqueue(outgoing, roads, in: session)
    let appended = entries.enumerated().map { index, entry -> Appended in
      if isStale[index] { return .stageChanged }
      let (digest, isRepeated) = (entry.message.digest, first[entry.message.digest] != index)
      switch entry.content {
      case .accepted: return isRepeated || known.contains(digest) ? .duplicate : .stored
      case .quarantined(let refusal):
        if isRepeated || keptBefore.contains(digest) { return .quarantinedBefore }
        return full.contains(refusal.source) ? .quarantineFull : .quarantined
      }
    }
    return (appended, unforwarded)
  }

  /// The seeds, those without an environment in the environments in which their ids are known.
  ///
  /// Of the others Apple is asked in Production first, then in the sandbox.
  private static func placed(
    _ seeds: [(app: App.ID, seed: Seed, arrivedAt: Milliseconds)], in session: borrowing Session
  ) throws(DatabaseError) -> [(app: App.ID, seed: Seed, arrivedAt: Milliseconds)] {
    let unnamed = Dictionary(grouping: seeds.filter { $0.seed.environment == nil }, by: \.app)
    guard !unnamed.isEmpty else { return seeds }
    var known: [App.ID: [String: Set<Environment>]] = [:]
    for (app, seeds) in unnamed {
      known[app] = try Ledger.environments(of: Set(seeds.map(\.seed.transactionID)), app: app, in: session)
    }
    return seeds.flatMap { app, seed, arrivedAt in
      guard seed.environment == nil, let environments = known[app]?[seed.transactionID] else {
        return [(app: app, seed: seed, arrivedAt: arrivedAt)]
      }
      return environments.sorted().map { environment in
        let placed = Seed(
          app: seed.app, environment: environment, transactionID: seed.transactionID, userID: seed.userID)
        return (app: app, seed: placed, arrivedAt: arrivedAt)
      }
    }
  }

  /// What was said of the messages and is not in their own rows.
  private func claims(
    of accepted: [(InboxMessage, Entry.Acceptance)], _ refused: [(InboxMessage, Entry.Refusal)]
  ) -> [(Digest, Claim)] {
    let told = accepted.compactMap { message, acceptance in
      let shown = Claim(environment: acceptance.findings.environment)
      return message.claim == shown ? nil : message.claim.map { (message.digest, $0) }
    }
    return told + refused.compactMap { message, _ in message.claim.map { (message.digest, $0) } }
  }

  /// Whose stage is not the one that was decided by.
  ///
  /// But for what is kept already, as after a commit of unknown outcome that did happen: it is in the outbox, and would
  /// reach the old back end twice if it were decided anew.
  private func stale(by roads: OutboxTable.Roads, in session: borrowing Session) throws(DatabaseError) -> [Bool] {
    let isStale = entries.map { $0.addressee.map(roads.isStale) ?? false }
    guard isStale.contains(true) else { return isStale }
    let digests = zip(entries, isStale).filter(\.1).map(\.0.message.digest)
    let kept = try InboxTable.known(digests, in: session).union(QuarantineTable.known(digests, in: session))
    return zip(entries, isStale).map { $1 && !kept.contains($0.message.digest) }
  }

  /// Keeps what fits the quotas; the bodies that were there before, and the sources whose quota is full.
  private func quarantine(
    _ refused: [(InboxMessage, Entry.Refusal)], _ usage: [QuarantineSource: QuarantineUsage],
    in session: borrowing Session
  ) throws(DatabaseError) -> (keptBefore: Set<Digest>, full: Set<QuarantineSource>) {
    guard !refused.isEmpty else { return ([], []) }
    let known = try QuarantineTable.known(refused.map(\.0.digest), in: session)
    let full = Set(QuarantineSource.allCases.filter { !(usage[$0] ?? QuarantineUsage()).isBelow($0.quota) })
    let new = refused.filter { !known.contains($0.0.digest) && !full.contains($0.1.source) }
    try QuarantineTable.insert(new, in: session)
    return (known, full)
  }
}
