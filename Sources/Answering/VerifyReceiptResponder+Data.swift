import Database
import Ledger
import LegacyAnswers
import Purchases
import Receipts
import Runtime
import Time

/// The data of a response: read, checked for freshness, looked up or left to Apple, and composed.
extension VerifyReceiptResponder {
  private enum View {
    case decided(CallOutcome)
    case stale(Stale)
  }

  private struct Stale {
    let reasons: [StalenessReason]
    let customer: LookupRateLimiter.Customer
    let ids: [String]
  }

  func tell(_ request: ValidatedCall) async -> CallOutcome {
    do {
      let stale: Stale
      let first = try await view(
        request, .ledger,
        // If no lookup is allowed now, the existing data is final.
        accepting: { stale in
          !request.what.mayAskApple && !turns.isOpen(stale.customer, at: clock.now())
        })
      switch first {
      case .decided(let outcome): return outcome
      case .stale(let found): stale = found
      }
      if request.what.mayAskApple { return request.what.ask(.data(request), stale.reasons) }
      let isAsked = await looked(up: stale.customer, stale.ids, request.app)
      let second = try await view(request, isAsked ? .lookUp : .ledger, accepting: { _ in true })
      guard case .decided(let outcome) = second else { return request.what.failed(21_009) }
      return outcome
    } catch is AsyncSemaphore.Refusal {
      return request.what.failed(21_005)
    } catch {
      failed(error)
      return request.what.failed(21_009)
    }
  }

  /// Returns the response for a request that Apple did not answer.
  package func answer(without draft: FallbackResponse) async -> ComposedResponse {
    await reply(without: draft).about(draft.receipt)
  }

  private func reply(without draft: FallbackResponse) async -> ComposedResponse {
    let unavailable = ComposedResponse(status: 21_005, in: draft.environment, reasons: draft.reasons)
    // Only Apple's own data about the account is final. Otherwise the next such request asks Apple again.
    func isSaid(_ reply: ComposedResponse) -> Bool { reply.source != nil || reply.status == 21_010 }
    switch draft.content {
    case .status(let status):
      let reply = ComposedResponse(status: status, in: draft.environment, reasons: draft.reasons)
      guard isSaid(reply), await isStillOurs(draft.place, in: draft.environment) else { return unavailable }
      return reply
    case .data(var request):
      // Without a purchase, nothing proves that the customer has no purchases.
      if draft.reasons == [.noPurchases] { return unavailable }
      request.what.isWithoutApple = true
      guard case .answered(let reply) = await tell(request), isSaid(reply),
        await isStillOurs(draft.place, in: draft.environment)
      else { return unavailable }
      return reply
    }
  }

  /// Looks a customer up at Apple, or waits for a lookup in flight; false if the limit forbids it, or if Apple cannot
  /// be asked.
  func looked(up customer: LookupRateLimiter.Customer, _ ids: [String], _ app: App) async -> Bool {
    let (lookUp, within, pool, clock) = (lookUp, settings.lookUpWithin, pool, clock)
    let most = customer.isNamed ? Self.historiesOfNamed : Self.historiesOfStrangers
    return await turns.looked(up: customer, at: clock.now()) {
      let (begun, scope) = (clock.now(), customer.scope)
      var (left, asked) = (ids[...], 0)
      while let id = left.popFirst(), asked < most, clock.now() - begun < within {
        // Respond without the lookups that exceed the time.
        let time = Interval.milliseconds(within.milliseconds - (clock.now() - begun).milliseconds)
        guard (try? await lookUp([id], app, scope.environment, time)) != nil else { break }
        asked += 1
        // One history has the whole account, so do not request it for another ID that it contained.
        let others = Array(left)
        guard !others.isEmpty else { break }
        let held = try? await pool.read { session throws(DatabaseError) in
          try HistoryTable.asked(others, since: begun, in: scope, session)
        }
        guard let held else { break }
        left = others.filter { !held.contains($0) }[...]
      }
      return asked > 0
    }
  }

  /// The number of consecutive histories in one lookup.
  ///
  /// Most receipts are of one account, which needs one. Those of others come with the seeds.
  private static let historiesOfNamed = 20
  private static let historiesOfStrangers = 2

  // MARK: Reading the ledger

  private struct Known: Sendable {
    let customer: ResolvedCustomer
    let reasons: [StalenessReason]

    init(_ knowledge: CustomerStatements, for receipt: Receipt, _ flow: NotificationHealth, at now: Timestamp) {
      customer = ResolvedCustomer(knowledge)
      reasons = Freshness.reasons(customer.evidence(for: receipt, flow, at: now), at: now)
    }
  }

  /// Rows of a customer of ordinary size, who is read and answered where the request runs.
  static let ordinaryRows = 256

  /// Decides by the ledger's current data; `stale` if it may be incomplete, and is not accepted.
  private func view(
    _ request: ValidatedCall, _ source: ResponseSource, accepting: (Stale) -> Bool
  ) async throws -> View {
    do {
      return try await view(request, source, atMost: Self.ordinaryRows, accepting: accepting)
    } catch let error as DatabaseError where error.code == .tooLarge {
      return try await lane(of: request).large(request.ids.min() ?? "", in: request.key.scope) {
        try await view(request, source, atMost: LedgerStore.mostKnowledge, accepting: accepting)
      }
    }
  }

  private func view(
    _ request: ValidatedCall, _ source: ResponseSource, atMost rows: Int, accepting: (Stale) -> Bool
  ) async throws -> View {
    let (mark, now, what) = (memory.mark, clock.now(), request.what)
    let known = try await read(request, atMost: rows, at: now)
    var found = request.found
    if known.customer.isAccountGone {
      if what.mayAskApple { return .decided(what.ask(.status(21_010), known.reasons)) }
      found.isAccountGone = true
    }
    if let row = checks.decide(found) { return .decided(what.outcome(of: row, known.reasons)) }
    if request.ids.isEmpty {
      // No owner is proven, so the purchases of this customer, if any, are not returned.
      return .decided(
        what.mayAskApple
          ? what.ask(.data(request), [.noPurchases])
          : await compose(request, known.customer, .receipt, [.noPurchases], at: now))
    }
    guard known.reasons.isEmpty else {
      let stale = stale(known, request)
      return accepting(stale) ? .decided(await withoutNews(request, known, at: now)) : .stale(stale)
    }
    let outcome = await compose(request, known.customer, source, [], at: now)
    if case .answered(let reply) = outcome, reply.source != nil {
      memory.keep(
        reply, to: request.key, about: known.customer.names, since: mark,
        changing: known.customer.nextChange(after: now), at: now)
    }
    return .decided(outcome)
  }

  private func stale(_ known: Known, _ request: ValidatedCall) -> Stale {
    let customer = LookupRateLimiter.Customer(
      scope: request.key.scope, name: known.customer.name, isNamed: request.isNamed)
    return Stale(
      reasons: known.reasons, customer: customer,
      ids: known.customer.idsToAsk(
        atMost: Self.idsAtOnce, receiptMade: request.receipt.signedAt, at: clock.now()))
  }

  private func read(
    _ request: ValidatedCall, atMost rows: Int, at now: Timestamp
  ) async throws(DatabaseError) -> Known {
    let (scope, pool) = (request.key.scope, pool)
    let flow = try await flows.flow(of: scope) { () async throws(DatabaseError) in
      try await pool.read { session throws(DatabaseError) in try NotificationHealth.read(scope, at: now, in: session) }
    }
    let isLarge = rows > Self.ordinaryRows
    let (knowledge, folded) = try await pool.read { session throws(DatabaseError) in
      let knowledge = try LedgerStore.knowledge(
        of: request.ids, app: request.app, environment: request.environment, atMost: rows, countsClaims: !isLarge,
        in: session)
      // Slow work is done on the thread of its connection.
      return isLarge ? (knowledge, Known(knowledge, for: request.receipt, flow, at: now)) : (knowledge, nil)
    }
    return folded ?? Known(knowledge, for: request.receipt, flow, at: now)
  }

  // MARK: Composing

  private func lane(of request: ValidatedCall) -> CallQueue { lane(of: request.what.call) }

  func lane(of call: VerifyReceiptCall) -> CallQueue { call.isNamed ? named : strangers }

  /// Responds with only the ledger and the receipt, if that reports no unconfirmed end.
  private func withoutNews(
    _ request: ValidatedCall, _ known: Known, at now: Timestamp
  ) async -> CallOutcome {
    if known.customer.endsUnheard(with: request.receipt, at: now) {
      return .answered(ComposedResponse(status: 21_005, in: request.environment, reasons: known.reasons))
    }
    return await compose(request, known.customer, .receipt, known.reasons, at: now)
  }

  /// Bytes of a receipt that is answered where its request runs.
  private static let shortReceipt = 256 << 10

  private func compose(
    _ request: ValidatedCall, _ customer: ResolvedCustomer, _ source: ResponseSource, _ reasons: [StalenessReason],
    at now: Timestamp
  ) async -> CallOutcome {
    let posted = request.what.posted
    guard let composer = composers.composer(choosing: request.key.readings) else {
      return request.what.failed(21_009)
    }
    let asked = ComposerRequest(
      receipt: request.receipt, receiptData: posted.text, environment: request.environment, date: now,
      excludesOldTransactions: posted.request.excludesOldTransactions,
      tellsSubscriptions: request.key.tellsSubscriptions)
    let rows = customer.rowCount
    guard rows > Self.ordinaryRows || posted.text.utf8.count > Self.shortReceipt else {
      return .answered(Self.reply(composer, asked, customer.facts(for: request.receipt, at: now), source, reasons))
    }
    let reply = await lane(of: request).thread.run(size: rows * 1_024) {
      Self.reply(composer, asked, customer.facts(for: request.receipt, at: now), source, reasons)
    }
    return reply.map(CallOutcome.answered) ?? request.what.failed(21_005)
  }

  private static func reply(
    _ composer: ResponseComposer, _ request: ComposerRequest, _ facts: CustomerFacts, _ source: ResponseSource,
    _ reasons: [StalenessReason]
  ) -> ComposedResponse {
    let body = composer.answer(request, facts)
    // The status is the last member, or the first in older formats; a composed status is one of two.
    let isEnded = body.suffix(16).elementsEqual(#"ed,"status":21006}"#.utf8.suffix(16))
    return ComposedResponse(body: body, status: isEnded ? 21_006 : 0, source: source, reasons: reasons)
  }
}
