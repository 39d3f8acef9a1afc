package import Database
import Purchases
import Signing
import Synchronization
import Time

extension LedgerStore {
  private static let headersRemembered = 1_000
  private static let usageLifetime = Duration.seconds(5)

  /// Writes the entries in one transaction and returns their results, once it is committed.
  ///
  /// Repetition has the same result, so a commit of unknown outcome can be repeated. The same commit adds new messages
  /// to the outbox.
  package func append(_ entries: [LedgerEntry]) async throws(DatabaseError) -> [AppendResult] {
    try await append(entries, lockWait: nil, givingUpOn: [])
  }

  /// Writes a batch of one class with the lock wait of the class.
  ///
  /// After a lock timeout, several entries are not retried, since the caller can retry each one separately. Neither is
  /// an entry that its sender can repeat.
  func append(batch entries: [LedgerEntry], limits: GroupCommit.Limits) async throws(DatabaseError) -> [AppendResult] {
    let isOpenToStrangers = entries.contains { $0.commitClass.isOpenToStrangers }
    return try await append(
      entries, lockWait: isOpenToStrangers ? limits.lockWaitOfStrangers : nil,
      givingUpOn: entries.count > 1 || entries.contains(where: \.commitClass.isSentAgain) ? [.lockWaitTimeout] : [])
  }

  private func append(
    _ entries: [LedgerEntry], lockWait: Interval?, givingUpOn conclusive: Set<DatabaseError.Code>
  ) async throws(DatabaseError) -> [AppendResult] {
    let arrival = [UInt8].random(count: 16)
    let headers = writtenHeaders.withLock { $0 }
    let usage = entries.allSatisfy(\.isAccepted) ? [:] : try await quarantineUsage()
    let heard = dueToBeHeard(entries)
    let batch = Batch(entries, bodies)
    let (appended, leftOut) = try await pool.transaction(
      replayable: true, isUrgent: entries.contains(where: \.commitClass.isUrgent),
      lockWait: lockWait, givingUpOn: conclusive
    ) { session throws(DatabaseError) in
      try batch.write(
        arrival: arrival, knownHeaders: headers, quarantine: usage, heard: heard, in: session)
    }
    if leftOut.unforwarded > 0 { unforwarded.withLock { $0 += leftOut.unforwarded } }
    if leftOut.unqueuedIDs > 0 { unqueuedIDs.withLock { $0 += leftOut.unqueuedIDs } }
    noteQuarantined(entries, appended)
    noteHeard(heard, entries, appended)
    writtenHeaders.withLock { written in
      if written.count > Self.headersRemembered { written.removeAll() }
      for (stored, outcome) in zip(batch.stored, appended) where outcome == .stored {
        written.formUnion(stored.headers.keys)
      }
    }
    return appended
  }

  /// Returns the keys whose last notification time this process did not store recently.
  private func dueToBeHeard(_ entries: [LedgerEntry]) -> Set<LastNotificationTable.Key> {
    let noted = heard.withLock { $0 }
    return Set(
      entries.compactMap { entry in
        guard let key = entry.heard else { return nil }
        return noted[key].map { $0 + LastNotificationTable.every > entry.message.receivedAt } ?? false ? nil : key
      })
  }

  private func noteHeard(_ due: Set<LastNotificationTable.Key>, _ entries: [LedgerEntry], _ appended: [AppendResult]) {
    guard !due.isEmpty else { return }
    heard.withLock { noted in
      for (entry, outcome) in zip(entries, appended) where outcome == .stored {
        guard let key = entry.heard, due.contains(key) else { continue }
        noted[key] = max(noted[key] ?? entry.message.receivedAt, entry.message.receivedAt)
      }
    }
  }

  private func quarantineUsage() async throws(DatabaseError) -> [QuarantineSource: QuarantineUsage] {
    if let known = quarantined.withLock({ $0 }), .now - known.readAt < Self.usageLifetime { return known.usage }
    let usage = try await pool.read { session throws(DatabaseError) in try QuarantineTable.usage(in: session) }
    quarantined.withLock { $0 = Known(usage: usage, readAt: .now) }
    return usage
  }

  private func noteQuarantined(_ entries: [LedgerEntry], _ appended: [AppendResult]) {
    quarantined.withLock { known in
      for (entry, outcome) in zip(entries, appended) where outcome == .quarantined {
        guard case .quarantined(let refusal) = entry.content else { continue }
        known?.usage[refusal.source, default: QuarantineUsage()].add(entry.message.body.count)
      }
    }
  }

  /// Writes the findings of messages without the messages, for a rebuild, which has them.
  static func note(
    _ messages: [(message: InboxMessage, app: App.ID, findings: Findings)], in session: borrowing Session
  ) throws(DatabaseError) {
    let findings = messages.map { ($0.app, $0.findings) }
    try PurchaseTable.note(findings.flatMap { app, found in found.purchases.map { (app, $0) } }, in: session)
    try RenewalTable.note(findings.flatMap { app, found in found.renewals.map { (app, $0) } }, in: session)
    try AppTransactionTable.note(
      findings.flatMap { app, found in found.appTransactions.map { (app, $0) } }, in: session)
    try AliasTable.note(findings, in: session)
    try AccountAssociationTable.note(findings, in: session)
    try PendingUserIDTable.note(findings, in: session)
    try EventTable.note(findings.flatMap { app, found in found.events.map { (app, $0) } }, in: session)
    try CustomerTable.note(findings, renaming: OutboxKeys.rename, in: session)
    try UnconfirmedLinkTable.note(messages, in: session)
    try SeedTable.note(messages, in: session)
  }
}
