import Database
import Purchases
import Signing
import Time

struct Batch {
  let entries: [LedgerEntry]
  let stored: [BodyVault.Stored]

  /// Seals the bodies.
  ///
  /// Create the batch before the transaction, so that a retry does not seal them again.
  init(_ entries: [LedgerEntry], _ bodies: BodyVault) {
    self.init(entries, entries.map { bodies.seal($0.message, sharesHeaders: $0.sharesHeaders) })
  }

  init(_ entries: [LedgerEntry], _ stored: [BodyVault.Stored]) { (self.entries, self.stored) = (entries, stored) }

  func write(
    arrival: [UInt8], knownHeaders: Set<Digest>, quarantine usage: [QuarantineSource: QuarantineUsage],
    heard due: Set<LastNotificationTable.Key>, in session: borrowing Session
  ) throws(DatabaseError) -> (appended: [AppendResult], leftOut: LeftOut) {
    let roads = try OutboxTable.roads(of: Set(entries.compactMap { $0.addressee?.scope.app }), in: session)
    let isStale = try stale(by: roads, in: session)
    // Of entries with one body, an accepted one counts before a refused one, and one from Apple's networks before
    // others, in any order.
    var first: [Digest: Int] = [:]
    for (index, entry) in entries.enumerated() where !isStale[index] {
      let known = first[entry.message.digest]
      if known.map({ entry.counts(before: entries[$0]) }) ?? true { first[entry.message.digest] = index }
    }
    var taken: [(message: InboxMessage, acceptance: LedgerEntry.AcceptedMessage, stored: BodyVault.Stored)] = []
    var refused: [Refused] = []
    for (index, entry) in entries.enumerated() where first[entry.message.digest] == index && !isStale[index] {
      switch entry.content {
      case .accepted(let acceptance):
        taken.append((entry.message, acceptance, stored[index]))
      case .quarantined(let refusal): refused.append(Refused(entry, refusal, stored[index]))
      }
    }
    let known = try InboxTable.insert(taken.map { ($0.message, $0.acceptance) }, arrival: arrival, in: session)
    taken.removeAll { known.contains($0.message.digest) }
    let new = taken.map { ($0.message, $0.acceptance) }
    try InboxTable.insertBodies(
      taken.map { ($0.message, $0.stored) }, knownHeaders: knownHeaders, in: session)
    try ClaimTable.note(claims(of: new, refused.map(\.message)), in: session)
    let messages = new.map { (message: $0, app: $1.app, findings: $1.findings) }
    let unqueued = Set(entries.filter { !$0.queuesIDs }.map(\.message.digest))
    let queued = messages.filter { !unqueued.contains($0.message.digest) }
    let reports = try UnconfirmedReport.all(in: queued, session)
    let unasked = try HistoryTable.unaskedOriginals(in: queued, reports, session)
    let order = Dictionary(
      entries.filter(\.isAccepted).map { ($0.message.digest, $0.claimedIDs) }, uniquingKeysWith: { first, _ in first })
    let (admitted, unqueuedIDs) = try UnconfirmedReport.admitted(reports, order, in: session)
    try LedgerStore.note(messages, in: session)
    try UnconfirmedChangeTable.queue(admitted, in: session)
    let arrived = try ArrivedIDs(in: queued, unasked: unasked, session)
    try HistoryJobTable.enqueue(Self.placed(arrived.history, in: session), in: session)
    try HistoryJobTable.enqueue(Self.placed(arrived.unverified, in: session), as: .unverifiedID, in: session)
    try ConsumptionTable.open(
      new.flatMap { message, accepted in
        // A V1 body from a back end's table has no date: its request was answered, or is too late.
        accepted.findings.events.filter { $0.source.isSigned || !unqueued.contains(message.digest) }.map {
          ConsumptionTable.News(
            app: accepted.app, event: $0, receivedAt: message.receivedAt,
            isTrusted: message.kind != .evidence && order[message.digest]?.isOfStrangers == false)
        }
      }, in: session)
    let aside = try quarantine(refused, usage, in: session)
    let acceptedBefore = refused.isEmpty ? [] : try InboxTable.known(refused.map(\.message.digest), in: session)
    // Apple's messages are forwarded once, the ones in quarantine included.
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
            members: acceptance.findings.members, isAccepted: true))
      case .quarantined:
        // An earlier accepted message was forwarded then. Forwarding its copy would send Apple's body again.
        guard !aside.full.contains(digest), !acceptedBefore.contains(digest) else { continue }
        // If another sender posted it to another app's URL before, it is not in this app's outbox.
        guard !aside.before.contains(digest) || addressee.proof != .unproven || entry.isFromApple else { continue }
        outgoing.append(
          .init(message: digest, addressee: addressee, proof: addressee.proof, size: entry.size, members: []))
      }
    }
    let unforwarded = try OutboxTable.enqueue(outgoing, roads, in: session)
    // Last in the transaction: other processes' commits may update the same row.
    try LastNotificationTable.note(heard(in: new, due), in: session)
    let appended = entries.enumerated().map { index, entry -> AppendResult in
      if isStale[index] { return .stageChanged }
      let (digest, isRepeated) = (entry.message.digest, first[entry.message.digest] != index)
      switch entry.content {
      case .accepted: return isRepeated || known.contains(digest) ? .duplicate : .stored
      case .quarantined:
        if let counted = first[digest], aside.full.contains(entries[counted].message.digest) {
          return .quarantineFull
        }
        return isRepeated || aside.before.contains(digest) ? .quarantinedBefore : .quarantined
      }
    }
    return (appended, LeftOut(unforwarded: unforwarded, unqueuedIDs: unqueuedIDs))
  }

  private func heard(
    in new: [(InboxMessage, LedgerEntry.AcceptedMessage)], _ due: Set<LastNotificationTable.Key>
  ) -> [LastNotificationTable.Key: Timestamp] {
    guard !due.isEmpty else { return [:] }
    let digests = Set(new.map(\.0.digest))
    let told = entries.compactMap { entry in
      entry.heard.flatMap { key in
        due.contains(key) && digests.contains(entry.message.digest) ? (key, entry.message.receivedAt) : nil
      }
    }
    return Dictionary(told, uniquingKeysWith: max)
  }

  /// The numbers of messages and IDs that a commit left out because too many wait.
  struct LeftOut {
    let unforwarded: Int
    let unqueuedIDs: Int
  }

  /// Returns the seeds.
  ///
  /// Seeds without an environment get those that know their IDs. The lookup of others tries Production first, then the
  /// sandbox.
  private static func placed(
    _ seeds: [(app: App.ID, seed: TransactionReference, arrivedAt: Timestamp)], in session: borrowing Session
  ) throws(DatabaseError) -> [(app: App.ID, seed: TransactionReference, arrivedAt: Timestamp)] {
    let unnamed = Dictionary(grouping: seeds.filter { $0.seed.environment == nil }, by: \.app)
    guard !unnamed.isEmpty else { return seeds }
    var known: [App.ID: [String: Set<Environment>]] = [:]
    for (app, seeds) in unnamed {
      known[app] = try LedgerStore.environments(of: Set(seeds.map(\.seed.transactionID)), app: app, in: session)
    }
    return seeds.flatMap { app, seed, arrivedAt in
      guard seed.environment == nil, let environments = known[app]?[seed.transactionID] else {
        return [(app: app, seed: seed, arrivedAt: arrivedAt)]
      }
      return environments.sorted().map { environment in
        let placed = TransactionReference(
          app: seed.app, environment: environment, transactionID: seed.transactionID, userID: seed.userID)
        return (app: app, seed: placed, arrivedAt: arrivedAt)
      }
    }
  }

  private func claims(
    of accepted: [(InboxMessage, LedgerEntry.AcceptedMessage)], _ refused: [InboxMessage]
  ) -> [(Digest, SubmissionMetadata)] {
    let told = accepted.compactMap { message, acceptance in
      let shown = SubmissionMetadata(environment: acceptance.findings.environment)
      return message.claim == shown ? nil : message.claim.map { (message.digest, $0) }
    }
    return told + refused.compactMap { message in message.claim.map { (message.digest, $0) } }
  }

  /// Returns whether the stage of each entry's app has changed since the decision.
  ///
  /// A stored entry is not stale: a new decision would forward it twice.
  private func stale(
    by roads: OutboxTable.Roads, in session: borrowing Session
  ) throws(DatabaseError) -> [Bool] {
    let isStale = entries.map { $0.addressee.map(roads.isStale) ?? false }
    guard isStale.contains(true) else { return isStale }
    let digests = zip(entries, isStale).filter(\.1).map(\.0.message.digest)
    let kept = try InboxTable.known(digests, in: session).union(QuarantineTable.known(digests, in: session))
    return zip(entries, isStale).map { $1 && !kept.contains($0.message.digest) }
  }
}

extension LedgerEntry {
  var sharesHeaders: Bool { isAccepted && proof == .proven }

  /// Whether it counts although `other` has the same message and came first.
  fileprivate func counts(before other: LedgerEntry) -> Bool {
    if other.isAccepted { return false }
    return isAccepted || (isOfApple && !other.isOfApple)
  }

  /// Whether Apple's networks sent the message, or it is signed for the app.
  var isOfApple: Bool { isFromApple || addressee?.proof == .proven }
}
