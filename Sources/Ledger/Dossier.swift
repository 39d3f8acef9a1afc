package import Database
package import Purchases
package import Time

/// Everything known about the purchases that one id leads to, in one environment.
package struct Dossier: Sendable {
  package let environment: Environment
  /// The originalTransactionIds the id leads to.
  package let originalTransactionIDs: [String]
  /// The customers they belong to: label and members.
  package let customers: [String: Set<CustomerNode>]
  package internal(set) var purchases: [PurchaseStatement]
  package let renewals: [RenewalStatement]
  package let appTransactions: [AppTransactionStatement]
  package internal(set) var events: [Event]
  /// To whose accounts the originalTransactionIds were said to belong, and when.
  package internal(set) var attributions: [Attribution] = []
  /// Whether V1 data alone may change entitlements here now.
  package internal(set) var legacyEntitlements = LegacyEntitlements.deny
  /// For how long access may be held while a look-up is open.
  package internal(set) var hold = AccessHold.off
  /// By which Apple is being asked now because of what V1 alone reported, by originalTransactionId.
  package internal(set) var lookUps: [String: OpenLookUp] = [:]
  /// Whether the app has a key of the App Store Server API: without one nothing can be confirmed.
  package internal(set) var canAskApple = false

  /// How a subscription among these purchases stands at `now`, by the app's policies and the look-ups that are open.
  package func standing(of subscription: Subscription, at now: Milliseconds) -> Standing {
    subscription.standing(
      at: now, legacy: legacyEntitlements, lookUp: lookUps[subscription.key.originalTransactionID], hold: hold)
  }
}

extension Ledger {
  /// How much of a customer is told.
  package enum Extent: Sendable {
    /// The purchases below the originalTransactionIds that the id leads to.
    case purchases
    /// All purchases of the customers to whom they belong.
    case customers
  }

  /// What is known under `id` (a transaction, original transaction, line item or app transaction id, an account token or
  /// a user id of the app's back end), one dossier for each environment that knows it.
  package func dossiers(of id: String, app: App, extent: Extent) async throws(DatabaseError) -> [Dossier] {
    try await pool.read { session throws(DatabaseError) in
      try Self.dossiers(of: id, app: app, extent: extent, in: session)
    }
  }

  /// The same over a connection that the caller has.
  package static func dossiers(
    of id: String, app: App, extent: Extent, in session: borrowing Session
  ) throws(DatabaseError) -> [Dossier] {
    var dossiers: [Dossier] = []
    for environment in Environment.allCases {
      if let found = try dossier(of: id, app: app, environment, extent, in: session) { dossiers.append(found) }
    }
    return dossiers
  }

  /// Which of these originalTransactionIds a purchase of the app is known under.
  package func purchased(
    _ originals: [String], app: App, environment: Environment
  ) async throws(DatabaseError) -> Set<String> {
    try await pool.read { session throws(DatabaseError) in
      let statements = try PurchaseTable.find(originals, app: app, environment: environment, in: session)
      return Set(statements.map(\.key.originalTransactionID))
    }
  }

  private static func dossier(
    of id: String, app: App, _ environment: Environment, _ extent: Extent, in session: borrowing Session
  ) throws(DatabaseError) -> Dossier? {
    let scope = Scope(app: app.id, environment: environment)
    var originals = try AliasTable.resolve(id, app: app, environment: environment, in: session)
    var customers = try CustomerTable.members(of: originals, in: scope, session)
    if customers.isEmpty { customers = try CustomerTable.members(ofAppTransaction: id, in: scope, session) }
    if customers.isEmpty, try AppTransactionTable.knows(id, in: scope, session) {
      let node = CustomerNode.appTransactionID(id)
      customers = [node.text: [node]]
    }
    guard !customers.isEmpty else { return nil }
    let members = customers.values.joined()
    switch extent {
    case .purchases: break
    case .customers: originals = Set(members.compactMap(\.originalTransactionID)).sorted()
    }
    let names = [app.id: app.bundleID]
    let canAskApple = try CredentialTable.has(.apiKey, of: app, in: session)
    return Dossier(
      environment: environment, originalTransactionIDs: originals, customers: customers,
      purchases: try PurchaseTable.find(originals, app: app, environment: environment, in: session),
      renewals: try RenewalTable.find(originals, app: app, environment: environment, in: session),
      appTransactions: try AppTransactionTable.read(
        """
        WHERE app = \(app.id.number) AND environment = \(environment.code)
        AND app_transaction_id IN (\(list: members.compactMap(\.appTransactionID)))
        """, bundleIDs: names, in: session),
      events: try EventTable.read(
        """
        WHERE app = \(app.id.number) AND environment = \(environment.code)
        AND original_transaction_id IN (\(list: originals))
        """, bundleIDs: names, in: session),
      attributions: try AttributionTable.read(
        """
        WHERE app = \(app.id.number) AND environment = \(environment.code)
        AND original_transaction_id IN (\(list: originals))
        """, in: session),
      legacyEntitlements: try PolicyTable.legacyEntitlements(of: app, environment: environment, in: session),
      hold: try PolicyTable.accessHold(of: app, in: session),
      lookUps: canAskApple ? try ClaimedChangeTable.open(of: originals, in: scope, session) : [:],
      canAskApple: canAskApple)
  }
}

extension CustomerNode {
  var originalTransactionID: String? { if case .originalTransactionID(let id) = self { id } else { nil } }
  var appTransactionID: String? { if case .appTransactionID(let id) = self { id } else { nil } }
}
