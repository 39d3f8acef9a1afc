private let hour: Int64 = 3_600_000
private let key = SubscriptionKey(app: app, environment: .production, originalTransactionID: "1")
private let lookUp = PendingLookup(since: Timestamp(0), because: .period, message: [1], failure: nil)

private func period(
  _ source: Source = .signedV2, at asOf: Int64, line: String, _ range: Range<Int64>, revoked: Int64? = nil
) -> PurchaseStatement {
  var values: [PurchaseField: JSONValue] = [
    .type: "Auto-Renewable Subscription", .purchaseDate: .integer(range.lowerBound),
    .expiresDate: .integer(range.upperBound), .productId: "monthly",
  ]
  values[.revocationDate] = revoked.map(JSONValue.integer)
  return said(source, at: asOf, line: line, message: source == .signedV2 ? 1 : 2, values)
}

private func subscription(_ purchases: [PurchaseStatement], _ renewals: [RenewalStatement] = []) -> Subscription? {
  Subscription(
    key: key, purchases: Purchase.fold(purchases, rules: purchaseRules),
    renewal: Resolved(renewals, rules: renewalRules))
}

@Suite(.computesForLong) struct `Access that is held while Apple is asked` {
  private let end = 100 * hour

  private func decision(
    _ purchases: [PurchaseStatement], _ renewals: [RenewalStatement] = [], at now: Int64, hours: Int = 72,
    isAsking: Bool = true
  ) throws -> AccessDecision {
    try #require(subscription(purchases, renewals)).accessDecision(
      at: Timestamp(now), lookUp: isAsking ? lookUp : nil, hold: AccessHold(hours: hours))
  }

  private var renewed: [PurchaseStatement] {
    [period(at: hour, line: "1", 0..<end), period(.notificationV1, at: 99 * hour, line: "2", end..<800 * hour)]
  }

  @Test func `goes on after the signed end, for as long as the operator decided`() throws {
    let before = try decision(renewed, at: end - 1)
    #expect(before.grantsAccess && before.accessHeldUntil == nil)
    let held = try decision(renewed, at: end)
    #expect(held.grantsAccess && held.accessHeldUntil == Timestamp(end + 72 * hour))
    #expect(held.status == .expired && held.isConfirmed && held.claim?.status == .active)
    #expect(try decision(renewed, at: end + 72 * hour - 1).grantsAccess)
    #expect(try !decision(renewed, at: end + 72 * hour).grantsAccess)
    #expect(try decision(renewed, at: end + 5 * hour, hours: 6).accessHeldUntil == Timestamp(end + 6 * hour))
    #expect(try !decision(renewed, at: end + 6 * hour, hours: 6).grantsAccess)
    #expect(try !decision(renewed, at: end, hours: 0).grantsAccess)
    #expect(try !decision(renewed, at: end, isAsking: false).grantsAccess)
    #expect(AccessHold(hours: 1_000).hours == 72 && AccessHold(hours: -1) == .off && AccessHold.standard.hours == 72)
  }

  @Test func `ends when what is claimed ends`() throws {
    let short = [
      period(at: hour, line: "1", 0..<end), period(.notificationV1, at: 99 * hour, line: "2", end..<end + hour),
    ]
    #expect(try decision(short, at: end).accessHeldUntil == Timestamp(end + hour))
    #expect(try !decision(short, at: end + hour).grantsAccess)
  }

  @Test func `is nothing once a signed word is later than the end`() throws {
    let signed = saidOfRenewal(at: end + hour, [.autoRenewStatus: 1, .isInBillingRetryPeriod: true])
    #expect(try decision(renewed, at: end + 2 * hour).grantsAccess)
    #expect(try !decision(renewed, [signed], at: end + 2 * hour).grantsAccess)
  }

  @Test func `is counted from the end of a signed grace period`() throws {
    let grace = saidOfRenewal(
      at: end, [.autoRenewStatus: 1, .isInBillingRetryPeriod: true, .gracePeriodExpiresDate: .integer(end + 20 * hour)])
    let recovered = [
      period(at: hour, line: "1", 0..<end), period(.notificationV1, at: end + hour, line: "2", end..<800 * hour),
    ]
    #expect(try decision(recovered, [grace], at: end + 19 * hour).accessHeldUntil == nil)
    #expect(try decision(recovered, [grace], at: end + 21 * hour).accessHeldUntil == Timestamp(end + 92 * hour))
  }

  @Test func `is nothing for a refund, an expiry, a cancellation, and whoever was never signed active`() throws {
    let refunded = [
      period(at: hour, line: "1", 0..<end, revoked: 50 * hour),
      period(.notificationV1, at: 99 * hour, line: "2", end..<800 * hour),
    ]
    #expect(try !decision(refunded, at: end + 1).grantsAccess)
    let onlyEnding = [period(at: hour, line: "1", 0..<end)]
    let off = saidOfRenewal(.notificationV1, at: 99 * hour, [.autoRenewStatus: 0])
    #expect(try !decision(onlyEnding, [off], at: end + 1).grantsAccess)
    let claimedRefund = [
      period(at: hour, line: "1", 0..<end),
      period(.notificationV1, at: 99 * hour, line: "2", end..<800 * hour, revoked: 99 * hour),
    ]
    #expect(try !decision(claimedRefund, at: end + 1).grantsAccess)
    let onlyV1 = [period(.notificationV1, at: hour, line: "1", 0..<end)]
    #expect(try !decision(onlyV1, at: 2 * hour).grantsAccess)
  }

  @Test func `takes nothing away for a claimed refund`() throws {
    let claimed = [
      period(at: hour, line: "1", 0..<end),
      period(.notificationV1, at: 50 * hour, line: "1", 0..<end, revoked: 50 * hour),
    ]
    let decision = try decision(claimed, at: 60 * hour)
    #expect(decision.status == .active && decision.grantsAccess && decision.isConfirmed)
    #expect(decision.claim?.status == .revoked && decision.period?.revocationDate == nil)
  }

  /// Whatever is claimed of whatever was signed: a forger wins a bounded delay and nothing else.
  @Test func `is all that any claims can win`() throws {
    var (random, held) = (SeededRandom(), 0)
    for round in 0..<TestSize.claimRounds {
      let signed = RandomWords(signed: true, &random)
      let claims = RandomWords(signed: false, &random)
      let hold = AccessHold(hours: .random(in: 0...72, using: &random))
      guard
        let all = subscription(signed.purchases + claims.purchases, signed.renewals + claims.renewals)
      else { continue }
      let alone = subscription(signed.purchases, signed.renewals)
      // Access by signed data alone can only change at a date that somebody signed.
      let dates = signed.dates.sorted()
      for now in (dates + claims.dates).flatMap({ [$0 - 1, $0, $0 + 1, $0 + Int64(hold.hours) * hour] }) {
        let context = "seed \(random.seed) round \(round) at \(now)"
        let now = Timestamp(now)
        let own = alone?.accessDecision(at: now).grantsAccess ?? false
        let asked = all.accessDecision(at: now, lookUp: lookUp, hold: hold)
        let closed = all.accessDecision(at: now, hold: hold)
        #expect(closed.grantsAccess == own && closed.accessHeldUntil == nil, "\(context)")
        if let alone, alone.status(at: now) != nil {
          let shown = alone.accessDecision(at: now)
          for decision in [asked, closed] {
            #expect(decision.status == shown.status && decision.period?.facts == shown.period?.facts, "\(context)")
            #expect(decision.isConfirmed == shown.isConfirmed, "\(context)")
          }
        }
        if own { #expect(asked.grantsAccess && asked.accessHeldUntil == nil, "\(context)") }
        guard asked.grantsAccess, !own else { continue }
        held += 1
        let until = try #require(asked.accessHeldUntil, "\(context)")
        let last = dates.last { date in
          let before = Timestamp(date - 1)
          return date <= now.sinceEpoch && alone?.accessDecision(at: before).grantsAccess == true
        }
        let signedEnd = Timestamp(try #require(last, "never signed active: \(context)"))
        #expect(now < until && until <= signedEnd + .hours(Int64(hold.hours)), "\(context)")
      }
    }
    #expect(held > 10, "seed \(random.seed)")
  }
}

/// Random statements about one subscription, by signed sources or by others.
private struct RandomWords {
  var purchases: [PurchaseStatement] = []
  var renewals: [RenewalStatement] = []
  /// Every date at which something may begin or end by them.
  var dates: [Int64] = []

  init(signed: Bool, _ random: inout SeededRandom) {
    let sources: [Source] = signed ? [.signedV2, .verifiedReceipt] : [.notificationV1, .verifyReceiptAnswer]
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let start = 50 * hour * .random(in: 0...6, using: &random)
      let end = start + hour * .random(in: 1...200, using: &random)
      let revoked = Int.random(in: 0..<5, using: &random) == 0 ? Int64.random(in: start...end, using: &random) : nil
      // Some lines are named by Apple, some derived here, and some are not known.
      let line = ["1", "2", "3", "4", "p\(start)", ""].randomElement(using: &random) ?? ""
      var statement = period(
        sources.randomElement(using: &random) ?? .signedV2, at: hour * .random(in: 0...500, using: &random), line: line,
        start..<end, revoked: revoked)
      // Claims may call any signed period by any id.
      if Bool.random(using: &random) {
        statement.facts.set(.transactionId, .string("\(Int.random(in: 1...4, using: &random))"))
      }
      if Bool.random(using: &random) { statement.facts.set(.productId, "yearly") }
      if Int.random(in: 0..<8, using: &random) == 0 { statement.facts.set(.isUpgraded, true) }
      purchases.append(statement)
      dates += [start, end] + (revoked.map { [$0] } ?? [])
    }
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      var values: [RenewalField: JSONValue] = [.autoRenewStatus: .integer(.random(in: 0...1, using: &random))]
      if Bool.random(using: &random) { values[.isInBillingRetryPeriod] = true }
      if Bool.random(using: &random) {
        let grace = hour * .random(in: 0...600, using: &random)
        values[.gracePeriodExpiresDate] = .integer(grace)
        dates.append(grace)
      }
      let source: Source = signed ? .signedV2 : sources.randomElement(using: &random) ?? .notificationV1
      renewals.append(saidOfRenewal(source, at: hour * .random(in: 0...500, using: &random), values))
    }
  }
}

@Suite struct `A renewal check` {
  private func findings(
    end: Int64, renewal: [RenewalField: JSONValue], revoked: Bool = false, at asOf: Int64 = 0
  ) -> Findings {
    var findings = Findings(app: app, environment: .production)
    findings.purchases = [period(at: asOf, line: "1", 0..<end, revoked: revoked ? 1 : nil)]
    findings.renewals = [saidOfRenewal(at: asOf, renewal)]
    return findings
  }

  private func due(_ findings: Findings, at now: Int64) -> Int64? {
    RenewalCheck.all(in: findings, at: Timestamp(now)).first?.dueAt?.sinceEpoch
  }

  @Test func `is due when the period ends that is to be renewed`() {
    #expect(due(findings(end: 100 * hour, renewal: [.autoRenewStatus: 1]), at: hour) == 100 * hour)
    #expect(due(findings(end: 100 * hour, renewal: [.autoRenewStatus: 0]), at: hour) == nil)
    #expect(due(findings(end: 100 * hour, renewal: [:]), at: hour) == nil)
    #expect(due(findings(end: 100 * hour, renewal: [.autoRenewStatus: 1], revoked: true), at: hour) == nil)
  }

  @Test func `is made again at doubled intervals for a day while Apple has neither renewed nor failed`() {
    let (end, renews) = (100 * hour, [RenewalField.autoRenewStatus: JSONValue.integer(1)])
    let minute = hour / 60
    var (now, asked) = (end, 0)
    while let next = due(findings(end: end, renewal: renews), at: now) {
      #expect(next >= now + 10 * minute)
      (now, asked) = (next, asked + 1)
    }
    #expect(asked == 9 && now >= end + 24 * hour)
    var failed = renews
    failed[.isInBillingRetryPeriod] = true
    #expect(due(findings(end: end, renewal: failed), at: end + 1) == nil)
    failed = renews
    failed[.expirationIntent] = 2
    #expect(due(findings(end: end, renewal: failed), at: end + 1) == nil)
  }

  @Test func `says as of when, and that none is expected`() {
    let checks = RenewalCheck.all(in: findings(end: 100 * hour, renewal: [.autoRenewStatus: 0], at: 7), at: .init(8))
    #expect(checks == RenewalCheck.all(in: findings(end: 200 * hour, renewal: [:], at: 7), at: .init(9)))
    #expect(checks.map(\.originalTransactionID) == ["1"] && checks.first?.asOf == Timestamp(7))
  }
}
