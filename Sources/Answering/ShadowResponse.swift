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

/// The response that Switchyard would have sent to a request that Apple answered, with its inputs.
package struct ShadowResponse: Sendable {
  package let app: App
  package let scope: AppScope
  package let flag: StageRecord
  package let receipt: Receipt
  /// The base64 receipt.
  package let receiptData: String
  package let excludesOldTransactions: Bool
  /// Whether the response contains more than the receipt.
  package let tellsSubscriptions: Bool
  package let body: [UInt8]
  /// The facts from which it was composed, without data of Apple's verifyReceipt.
  package let facts: CustomerFacts
  /// The known originalTransactionIds of the account.
  package let account: Set<String>
  package let signedAt: [String: Timestamp]
  /// The reasons why Apple would have been asked instead; empty if this response would have been sent.
  package let reasons: [StalenessReason]
  /// Whether a check left the response to Apple.
  package let isApples: Bool
  package let composer: ResponseComposer

  /// The digest of the receipt's signed content, because one receipt has any number of spellings.
  package var voice: Digest { receipt.voice }

  /// Whether it would have been sent without a request to Apple.
  package var isFresh: Bool { reasons.isEmpty && !isApples }
}

extension Receipt {
  /// The digest of the signed content, independent of the spelling.
  var voice: Digest {
    let made = signedAt.map { "\($0.sinceEpoch)" } ?? "-"
    return .sha256(Array("\(bundleID ?? "") \(made) \(originalTransactionIDs)".utf8))
  }
}

/// The reason why a request has no candidate; the names are a metric's labels.
package enum ShadowSkipReason: String, Error, Sendable, CaseIterable {
  case unproven
  case unknownApp
  case notCompared
  /// Data of the customer arrived since, possibly because of Apple's response.
  case learned
  /// The customer has too many rows for a comparison.
  case tooLarge
  case failed
}

/// The data of a customer without Apple's verifyReceipt responses.
private struct ShadowCustomer: Sendable {
  let facts: CustomerFacts
  let account: Set<String>
  let signedAt: [String: Timestamp]
  let reasons: [StalenessReason]
  let isAccountGone: Bool
}

extension VerifyReceiptResponder {
  /// Composes Switchyard's response only for comparison, without requests, writes or caching.
  ///
  /// Apple's own earlier responses are not used, and no data from after `askedAt`: a customer with data since then has
  /// no candidate.
  ///
  /// - Parameters:
  ///   - thread: verifies the signature and composes the response.
  ///   - askedAt: before Apple was asked for the compared response.
  ///   - date: the date of the composition, from Apple's response.
  ///   - inAnyStage: whether an operator requests it, regardless of the app's stage.
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

  /// The largest number of rows of one kind for a comparison.
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
