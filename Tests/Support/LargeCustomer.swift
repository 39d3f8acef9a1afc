import JSON
package import Purchases
package import Time

/// One customer with as many purchases as a test wants, as what notifications teach of them.
package struct LargeCustomer: Sendable {
  package enum Shape: String, CaseIterable, Sendable {
    /// Consumables: each has an originalTransactionId of its own, all have one appTransactionId.
    case linked
    /// Periods of one subscription: one originalTransactionId.
    case periods
  }

  package static let start = Timestamp(1_700_000_000_000)

  package let shape: Shape
  package let app: String
  package let environment: Environment
  /// Customers of different names have nothing in common.
  package let name: Int

  package init(_ shape: Shape, of app: String, in environment: Environment = .sandbox, name: Int = 1) {
    (self.shape, self.app, self.environment, self.name) = (shape, app, environment, name)
  }

  package var appTransactionID: String { "70\(name)" }
  package var accountToken: String { "7e3f2a5c-0000-4000-8000-00000000000\(name)" }

  package func transactionID(_ place: Int) -> String { "2\(name)\(1_000_000 + place)" }

  package func originalTransactionID(_ place: Int) -> String { transactionID(shape == .linked ? place : 0) }

  package func date(_ place: Int) -> Timestamp { Self.start + .minutes(10 * Int64(place)) }

  /// What the notification of one purchase teaches; `original` in the place of its originalTransactionId.
  package func findings(_ place: Int, original: String? = nil, source: Source = .signedV2) -> Findings {
    let (id, date) = (transactionID(place), date(place))
    let original = original ?? originalTransactionID(place)
    var facts = Facts<PurchaseField>()
    facts.set(.transactionId, .string(id))
    facts.set(.originalTransactionId, .string(original))
    facts.set(.productId, .string(shape == .linked ? "coins" : "daily"))
    facts.set(.purchaseDate, .integer(date.sinceEpoch))
    facts.set(.appTransactionId, .string(appTransactionID))
    facts.set(.appAccountToken, .string(accountToken))
    facts.set(.quantity, 1)
    switch shape {
    case .linked: facts.set(.type, "Consumable")
    case .periods:
      facts.set(.type, "Auto-Renewable Subscription")
      facts.set(.webOrderLineItemId, .string("9\(id)"))
      facts.set(.expiresDate, .integer((date + .minutes(10)).sinceEpoch))
      facts.set(.transactionReason, place == 0 ? "PURCHASE" : "RENEWAL")
    }
    let line = shape == .linked ? Line(text: "") : Line(text: "9\(id)")
    let key = PurchaseKey(app: app, environment: environment, originalTransactionID: original, line: line)
    let rank = Rank(asOf: date + .seconds(1), tieBreak: [UInt8](repeating: 1, count: 16))
    let message = [UInt8](repeating: UInt8(truncatingIfNeeded: place), count: 32)
    var findings = Findings(app: app, environment: environment)
    findings.purchases = [PurchaseStatement(key: key, source: source, rank: rank, facts: facts, message: message)]
    if shape == .periods {
      var intention = Facts<RenewalField>()
      intention.set(.autoRenewStatus, 1)
      intention.set(.renewalDate, .integer((date + .minutes(10)).sinceEpoch))
      findings.renewals = [
        RenewalStatement(key: key.subscription, source: source, rank: rank, facts: intention, message: message)
      ]
    }
    let type = shape == .linked ? "ONE_TIME_CHARGE" : place == 0 ? "SUBSCRIBED" : "DID_RENEW"
    findings.events = [
      Event(
        app: app, environment: environment, notificationUUID: "\(original)-\(id)", notificationType: type,
        subtype: nil, originalTransactionID: original, transactionID: id, line: line, date: date, source: source,
        rank: rank, details: [:], message: message, rule: "N-001")
    ]
    findings.links = findings.derivedLinks
    return findings
  }

  /// What several notifications teach together, for tests that need the ledger and not the way there.
  package func findings(_ places: Range<Int>) -> Findings {
    var all = Findings(app: app, environment: environment)
    for place in places { all.add(findings(place)) }
    return all
  }
}

extension Findings {
  /// Adds what another message teaches of the same app and environment.
  package mutating func add(_ other: Findings) {
    purchases += other.purchases
    renewals += other.renewals
    events += other.events
    links += other.links
  }
}
