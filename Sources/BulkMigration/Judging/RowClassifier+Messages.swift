import Adapter
import Backfill
import Intake
import JSON
import Ledger
import Purchases
import Signing
import Time

extension RowClassifier {
  /// A signed payload, a stored answer or notification, or an id: read as evidence of the app's back end is.
  func message(
    _ body: [UInt8], claimed: String?, _ row: RowMetadata, digest: MigrationStep.Mark? = nil
  ) -> RowOutcome {
    let app: App
    do throws(RejectReason) { app = try self.app(claimed: claimed, row) } catch {
      return .rejected(error, Self.nobody)
    }
    let mark = digest ?? MigrationStep.Mark(Digest.sha256(body + Array("\n\(app.bundleID)".utf8)).bytes)
    do throws(MessageError) {
      let decision = try decision(on: body, app: app, row)
      let findings = decision.entry.findings
      if let findings, findings.userIDs.contains(where: { directory.secretFilter.isHeld(by: $0.value) }) {
        return .rejected(
          RejectReason(word: "userIdIsSecret"), MigrationAccountTable.CountScope(app: app.id, environment: nil))
      }
      // A renewal names no app, so that it alone proves nothing: Apple is asked by its id.
      if let findings, findings.purchases.isEmpty, findings.appTransactions.isEmpty,
        let renewal = findings.renewals.first, renewal.source == .signedV2
      {
        let id: JSONObject = ["transactionId": .string(renewal.key.originalTransactionID)]
        return content(
          of: try self.decision(on: id.encoded(), app: app, row), app: app, digest: mark, row,
          isActive: true)
      }
      return content(
        of: decision, app: app, digest: mark, row, users: users(of: findings, app, row),
        isActive: isActive(findings))
    } catch {
      return .rejected(RejectReason(word: error.code), MigrationAccountTable.CountScope(app: app.id, environment: nil))
    }
  }

  private func decision(
    on body: [UInt8], app: App, _ row: RowMetadata
  ) throws(MessageError) -> IngestDecider.IngestDecision {
    func message(_ environment: Environment?) -> InboxMessage {
      InboxMessage(
        .evidence, body, app: app.bundleID,
        claim: SubmissionMetadata(environment: environment, userID: row.userID, isStored: row.userID != nil),
        receivedAt: claims.receivedAt)
    }
    func decision(_ message: InboxMessage) throws(MessageError) -> IngestDecider.IngestDecision {
      try intake.decision(on: message, about: app, secrets: directory.secretFilter)
    }
    // An id alone says no environment; whatever says one is not told another.
    let isBareID = body.count < 256 && body.starts(with: "{\"transactionId\"".utf8) && !body.contains(UInt8(ascii: ","))
    if isBareID { return try decision(message(claims.environment)) }
    do throws(MessageError) { return try decision(message(nil)) } catch {
      guard error.code == MessageError.environmentUnknown, let environment = claims.environment else { throw error }
      return try decision(message(environment))
    }
  }

  /// What is written for it, and the ids by which Apple is asked; handed out by the job itself.
  func content(
    of decision: IngestDecider.IngestDecision, app: App, digest: MigrationStep.Mark, _ row: RowMetadata,
    users: [LedgerEntry] = [],
    isActive: Bool
  ) -> RowOutcome {
    let entry = decision.entry.withoutQueue
    let findings = entry.findings
    let ids = Set(
      (findings?.seeds ?? []).compactMap { seed -> MigrationStep.ID? in
        switch seed.environment {
        case .xcode, .localTesting: nil
        case .production, .sandbox, nil: MigrationStep.ID(environment: seed.environment, id: seed.transactionID)
        }
      })
    return .content(
      MigrationStep.Content(
        digest: digest, user: row.mark,
        place: MigrationAccountTable.CountScope(app: app.id, environment: findings?.environment), entry: entry,
        users: users, ids: ids.sorted { $0.id < $1.id }, isActive: isActive))
  }

  /// A table's word for whose it is counts of what an unsigned answer or V1 body names, as it does of an id alone.
  ///
  /// Of so many purchases that they are hardly one user's it counts of none: they stay claimed.
  private func users(of findings: Findings?, _ app: App, _ row: RowMetadata) -> [LedgerEntry] {
    guard let findings else { return [] }
    let claimed = Set(findings.userIDs.filter(\.isClaimed).map(\.originalTransactionID)).sorted()
    guard claimed.count <= Self.mostClaimed else { return [] }
    return claimed.compactMap { id in
      let body: JSONObject = ["transactionId": .string(id), "environment": .string(findings.environment.rawValue)]
      // What is no id of Apple's stays claimed.
      return try? decision(on: body.encoded(), app: app, row).entry.withoutQueue
    }
  }

  private static let mostClaimed = 1_000

  private func isActive(_ findings: Findings?) -> Bool {
    guard let findings else { return false }
    let since = claims.receivedAt - .days(62)
    return !findings.renewals.isEmpty || findings.purchases.isEmpty
      || findings.purchases.contains { ($0.facts.date(.expiresDate) ?? since) > since }
  }
}

extension LedgerEntry {
  /// Its ids are the job's to hand out.
  fileprivate var withoutQueue: Self {
    var entry = self
    entry.queuesIDs = false
    return entry
  }
}

extension MessageError {
  static let environmentUnknown = "environmentUnknown"
}
