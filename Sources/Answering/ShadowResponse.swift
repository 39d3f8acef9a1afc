import Database
import JSON
package import Ledger
package import LegacyAnswers
import Mappings
import Purchases
package import Receipts
import Rollout
package import Runtime
package import Signing
package import Time

/// What we would have answered to a request that Apple answered, and what it was made from.
package struct ShadowResponse: Sendable {
  package let app: App
  package let scope: AppScope
  package let flag: StageRecord
  package let receipt: Receipt
  /// In base64.
  package let receiptData: String
  package let excludesOldTransactions: Bool
  /// Whether the answer tells of more than the receipt.
  package let tellsSubscriptions: Bool
  /// Our answer, as it would be sent.
  package let body: [UInt8]
  /// What it was composed from; nothing that Apple's verifyReceipt ever answered is in it.
  package let facts: CustomerFacts
  /// Every originalTransactionId that is known of the account.
  package let account: Set<String>
  package let signedAt: [String: Timestamp]
  /// Why Apple would have been asked in place of giving this answer; empty when it would have been given.
  package let reasons: [StalenessReason]
  /// Whether a check left the answer to Apple.
  package let isApples: Bool
  /// What composed it.
  package let composer: ResponseComposer

  /// By what Apple signed in the receipt, however it is dressed: of one receipt there are any number of spellings.
  package var voice: Digest { receipt.voice }

  /// Whether the ledger alone would have given it.
  package var isFresh: Bool { reasons.isEmpty && !isApples }
}

extension Receipt {
  /// By what Apple signed, however the receipt is dressed.
  var voice: Digest {
    let made = signedAt.map { "\($0.sinceEpoch)" } ?? "-"
    return .sha256(Array("\(bundleID ?? "") \(made) \(originalTransactionIDs)".utf8))
  }
}

/// Why there is no candidate for a request; the names are a metric's labels.
package enum ShadowSkipReason: String, Error, Sendable, CaseIterable {
  /// The receipt is not proven: it has no voice.
  case unproven
  case unknownApp
  /// The app's stage compares nothing.
  case notCompared
  /// Something of the customer came in since: it may have been asked for because of Apple's answer.
  case learned
  /// The customer has more rows than are read for a comparison.
  case tooLarge
  case failed
}

/// What is known of a customer without Apple's answers of verifyReceipt.
private struct ShadowCustomer: Sendable {
  let facts: CustomerFacts
  let account: Set<String>
  let signedAt: [String: Timestamp]
  let reasons: [StalenessReason]
  let isAccountGone: Bool
}

extension VerifyReceiptResponder {
  /// Composes what we would answer, for comparison alone: nothing is asked, stored or remembered.
  ///
  /// Apple's own earlier answers are not used, and nothing that was learned after `askedAt`: a customer of whom something
  /// came in since then has no candidate.
  ///
  /// - Parameters:
  ///   - thread: verifies the signature and composes the answer.
  ///   - askedAt: before Apple was asked for the answer that this is compared with.
  ///   - date: for which it is composed; that of Apple's answer.
  ///   - inAnyStage: whether an operator asks for it, in whatever stage the app is.
  package func candidate(
    for call: VerifyReceiptCall, on thread: LowPriorityThread, askedAt: Timestamp, date: Timestamp?,
    inAnyStage: Bool = false
  ) async throws(ShadowSkipReason) -> ShadowResponse {
    let memory = lane(of: call).receipts
    let posted = await thread.run { [receipts] in ParsedCall(call.body, reader: receipts, memory: memory) }
    guard let receipt = posted.proven, let bundleID = receipt.bundleID else { throw .unproven }
    let apps = directory.current()
    guard let app = apps[bundleID] else { throw .unknownApp }
    let scope = AppScope(app: app.id, environment: call.environment)
    guard let flag = apps.flag(of: scope), inAnyStage || flag.stage.comparesAnswers else { throw .notCompared }
    let what = RoutedCall(call: call, posted: posted, place: CallScope(app: app, flag: flag), apps: apps)
    do {
      return try await candidate(
        of: what, app, flag, receipt, on: thread, askedAt: askedAt, date: date ?? clock.now())
    } catch let none as ShadowSkipReason {
      throw none
    } catch { throw .failed }
  }

  private func candidate(
    of what: RoutedCall, _ app: App, _ flag: StageRecord, _ receipt: Receipt, on thread: LowPriorityThread,
    askedAt: Timestamp,
    date: Timestamp
  ) async throws -> ShadowResponse {
    let (environment, ids) = (what.call.environment, receipt.originalTransactionIDs)
    let readings = what.apps.answerReadings(of: app)
    guard let composer = await thread.run({ [composers] in composers.composer(choosing: readings) }) else {
      throw ShadowSkipReason.failed
    }
    var found = what.posted.findings(asked: environment)
    if found.signsNoEnvironment { found.environment = try await environmentNow(of: ids, app, environment) }
    found.holdsSubscription = receipt.holdsSubscription
    found.secret = secret(of: what, app, what.apps)
    func candidate(
      _ body: [UInt8], _ customer: ShadowCustomer?, isApples: Bool
    ) -> ShadowResponse {
      ShadowResponse(
        app: app, scope: AppScope(app: app.id, environment: environment), flag: flag, receipt: receipt,
        receiptData: what.posted.text,
        excludesOldTransactions: what.posted.request.excludesOldTransactions,
        tellsSubscriptions: found.secret == .right, body: body, facts: customer?.facts ?? CustomerFacts(),
        account: customer?.account ?? Set(ids), signedAt: customer?.signedAt ?? [:],
        reasons: customer?.reasons ?? [], isApples: isApples, composer: composer)
    }
    func status(_ row: ResponseStatusTable.Row, _ customer: ShadowCustomer?) -> ShadowResponse {
      let (status, isApples): (Int64, Bool) =
        switch row.answer {
        case .status(let status): (status, false)
        case .askApple(let status): (status, true)
        }
      return candidate(StatusDecision.body(status, in: environment).encoded(), customer, isApples: isApples)
    }
    if let row = checks.decide(found) { return status(row, nil) }
    let customer = try await known(ids, app, receipt, environment, on: thread, askedAt: askedAt)
    found.isAccountGone = customer.isAccountGone
    if let row = checks.decide(found) { return status(row, customer) }
    let request = ComposerRequest(
      receipt: receipt, receiptData: what.posted.text, environment: environment, date: date,
      excludesOldTransactions: what.posted.request.excludesOldTransactions, tellsSubscriptions: found.secret == .right)
    let body = await thread.run { composer.answer(request, customer.facts) }
    return candidate(body, customer, isApples: customer.isAccountGone)
  }

  private func environmentNow(of ids: [String], _ app: App, _ asked: Environment) async throws -> Environment? {
    guard let id = ids.first else { return nil }
    let found = try await pool.read { session throws(DatabaseError) in
      try LedgerStore.environments(naming: id, app: app, in: session)
    }
    return found.contains(asked) ? asked : [Environment.production, .sandbox].first(where: found.contains)
  }

  /// Rows of one kind of a customer who is compared.
  private static let mostCompared = 5_000

  private func known(
    _ ids: [String], _ app: App, _ receipt: Receipt, _ environment: Environment, on thread: LowPriorityThread,
    askedAt: Timestamp
  ) async throws -> ShadowCustomer {
    let (scope, now) = (AppScope(app: app.id, environment: environment), clock.now())
    let flow = try await flows.flow(of: scope) { [pool] () async throws(DatabaseError) in
      try await pool.read { session throws(DatabaseError) in try NotificationHealth.read(scope, at: now, in: session) }
    }
    guard !large.contains(ids, in: scope, at: now) else { throw ShadowSkipReason.tooLarge }
    let knowledge: CustomerStatements
    let isLearned: Bool
    do throws(DatabaseError) {
      (knowledge, isLearned) = try await pool.read { session throws(DatabaseError) in
        let knowledge = try LedgerStore.knowledge(
          of: ids, app: app, environment: environment, atMost: Self.mostCompared, countsClaims: true, in: session)
        return (knowledge, try LedgerStore.learned(knowledge, since: askedAt, in: session))
      }
    } catch {
      guard error.code == .tooLarge else { throw error }
      large.insert(ids, in: scope, at: now)
      throw ShadowSkipReason.tooLarge
    }
    guard !isLearned else { throw ShadowSkipReason.learned }
    return await thread.run { ShadowCustomer(knowledge, asking: ids, with: receipt, flow, at: now) }
  }
}

extension ShadowCustomer {
  /// Folds thousands of rows.
  fileprivate init(
    _ knowledge: CustomerStatements, asking ids: [String], with receipt: Receipt, _ flow: NotificationHealth,
    at now: Timestamp
  ) {
    let customer = ResolvedCustomer(knowledge)
    var facts = customer.facts(for: receipt, at: now)
    for place in facts.transactions.indices { facts.transactions[place].answered = nil }
    var signedAt: [String: Timestamp] = [:]
    for (id, date) in knowledge.purchases.map({ ($0.key.originalTransactionID, $0.rank.asOf) })
      + knowledge.renewals.map({ ($0.key.originalTransactionID, $0.rank.asOf) })
    { signedAt[id] = max(signedAt[id] ?? date, date) }
    let reasons =
      ids.isEmpty
      ? [.noPurchases] : Freshness.reasons(customer.evidence(for: receipt, flow, at: now), at: now)
    self.init(
      facts: facts, account: Set(knowledge.originalTransactionIDs), signedAt: signedAt, reasons: reasons,
      isAccountGone: customer.isAccountGone)
  }
}
