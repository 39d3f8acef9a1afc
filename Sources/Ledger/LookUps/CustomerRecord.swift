package import Database
package import Purchases
package import Time

/// The data about the purchases of one ID, in one environment.
///
/// A large customer has several records, each with some originalTransactionIds.
package struct CustomerRecord: Sendable {
  package let environment: Environment
  package internal(set) var originalTransactionIDs: [String]
  /// The members of each customer, by the smallest one, which names the customer.
  package let customers: [String: Set<CustomerNode>]
  package internal(set) var purchases: [PurchaseStatement]
  package internal(set) var renewals: [RenewalStatement]
  /// If the record is split, the first part has those of all parts.
  package let appTransactions: [AppTransactionStatement]
  package internal(set) var events: [Event]
  /// The accounts of the originalTransactionIds, with their periods.
  package internal(set) var attributions: [AccountAssociation] = []
  package internal(set) var hold = AccessHold.off
  /// The open lookups because of V1 reports, by originalTransactionId.
  package internal(set) var lookUps: [String: PendingLookup] = [:]
  /// Whether the app has a key of the App Store Server API.
  ///
  /// Without it no claim can be confirmed.
  package internal(set) var canAskApple = false
  /// The customers' links to others by only unsigned messages.
  ///
  /// If the record is split, the first part has them.
  package internal(set) var claimedLinks: [UnconfirmedLink] = []
  /// The originalTransactionIds to which only unsigned messages assign the requested ID.
  ///
  /// The record omits their data.
  package internal(set) var claimedOriginals: [String] = []
  /// Whether the record omits unsigned claims.
  ///
  /// It has all signed data.
  package internal(set) var claimsAreCut = false

  package func accessDecision(of subscription: Subscription, at now: Timestamp) -> AccessDecision {
    subscription.accessDecision(at: now, lookUp: lookUps[subscription.key.originalTransactionID], hold: hold)
  }
}

extension LedgerStore {
  package enum Extent: String, Sendable {
    /// The purchases of the originalTransactionIds that the ID leads to.
    case purchases
    /// The purchases of their customers.
    case customers
  }

  /// Returns the data about `id` in each environment that knows it.
  ///
  /// `id` is a transaction, original transaction, line item or app transaction ID, an account token or a user ID. For
  /// customers of any size read `matches` and each of their pieces.
  package func dossiers(of id: String, app: App, extent: Extent) async throws(DatabaseError) -> [CustomerRecord] {
    try await pool.read { session throws(DatabaseError) in
      try Self.dossiers(of: id, app: app, extent: extent, in: session)
    }
  }

  package static func dossiers(
    of id: String, app: App, extent: Extent, in session: borrowing Session
  ) throws(DatabaseError) -> [CustomerRecord] {
    var dossiers: [CustomerRecord] = []
    for match in try matches(of: id, app: app, extent: extent, in: session) {
      var whole = try dossier(of: match, piece: 0, app: app, in: session)
      for place in match.pieces.indices.dropFirst() {
        whole.add(try dossier(of: match, piece: place, app: app, in: session))
      }
      dossiers.append(whole)
    }
    return dossiers
  }

  /// Returns a record for each match, or `nil` if one has several pieces or a list with more than `rows` rows.
  package static func dossiers(
    of matches: [IDResolution], app: App, atMost rows: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [CustomerRecord]? {
    var dossiers: [CustomerRecord] = []
    for match in matches {
      guard match.pieces.count == 1, match.pieces[0].count <= rows else { return nil }
      let lists = try CustomerRows(below: match, piece: 0, app: app, atMost: rows + 1, in: session)
      guard lists.longest <= rows else { return nil }
      dossiers.append(try dossier(of: match, piece: 0, app: app, lists, in: session))
    }
    return dossiers
  }

  /// Returns all data of a piece.
  ///
  /// Throws `tooLarge` if one of its lists has more signed rows than a lookup may hold. It includes claims up to
  /// `IDResolution.mostClaims`.
  package static func dossier(
    of match: IDResolution, piece: Int, app: App, in session: borrowing Session
  ) throws(DatabaseError) -> CustomerRecord {
    let lists = try CustomerRows(below: match, piece: piece, app: app, within: ReadLimit(), in: session)
    return try dossier(of: match, piece: piece, app: app, lists, in: session)
  }

  static func dossier(
    of match: IDResolution, piece: Int, app: App, _ lists: CustomerRows, in session: borrowing Session
  ) throws(DatabaseError) -> CustomerRecord {
    let originals = match.pieces[piece]
    let downloads = piece == 0 ? match.customers.values.joined().compactMap(\.appTransactionID).sorted() : []
    return CustomerRecord(
      environment: match.environment, originalTransactionIDs: originals, customers: match.customers,
      purchases: lists.purchases, renewals: lists.renewals,
      appTransactions: try AppTransactionTable.find(
        downloads, app: app, environment: match.environment, in: session),
      events: lists.events, attributions: lists.attributions,
      hold: match.policies.hold,
      lookUps: try lookUps(of: originals, match, app, in: session), canAskApple: match.policies.canAskApple,
      claimedLinks: piece == 0 ? match.claimedLinks : [], claimedOriginals: piece == 0 ? match.claimedOriginals : [],
      claimsAreCut: lists.claimsAreCut || match.claimsAreCut)
  }

  private static func lookUps(
    of originals: [String], _ match: IDResolution, _ app: App, in session: borrowing Session
  ) throws(DatabaseError) -> [String: PendingLookup] {
    guard match.policies.canAskApple else { return [:] }
    return try UnconfirmedChangeTable.open(
      of: originals, in: AppScope(app: app.id, environment: match.environment), session)
  }

  package func purchased(
    _ originals: [String], app: App, environment: Environment
  ) async throws(DatabaseError) -> Set<String> {
    try await pool.read { session throws(DatabaseError) in
      var known: Set<String> = []
      // One query each: one row is enough for a subscription with thousands of periods.
      for id in Set(originals) {
        let rows = try session.query(
          """
          SELECT 1 FROM purchases WHERE app = \(app.id.number) AND environment = \(environment.code)
          AND original_transaction_id = \(id) LIMIT 1
          """)
        if !rows.isEmpty { known.insert(id) }
      }
      return known
    }
  }
}

extension CustomerRecord {
  fileprivate mutating func add(_ piece: CustomerRecord) {
    originalTransactionIDs += piece.originalTransactionIDs
    purchases += piece.purchases
    renewals += piece.renewals
    events += piece.events
    attributions += piece.attributions
    claimsAreCut = claimsAreCut || piece.claimsAreCut
    lookUps.merge(piece.lookUps) { first, _ in first }
  }
}
