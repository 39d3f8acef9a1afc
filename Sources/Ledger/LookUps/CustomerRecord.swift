package import Database
package import Purchases
package import Time

/// Everything known about the purchases that one id leads to, in one environment.
///
/// Of a large customer a piece of it: all that is known below some of the originalTransactionIds.
package struct CustomerRecord: Sendable {
  package let environment: Environment
  /// The originalTransactionIds the id leads to.
  package internal(set) var originalTransactionIDs: [String]
  /// The customers they belong to: the smallest member, by which a customer is called, and all members.
  package let customers: [String: Set<CustomerNode>]
  package internal(set) var purchases: [PurchaseStatement]
  package internal(set) var renewals: [RenewalStatement]
  /// Of a dossier in pieces those of the whole are in the first.
  package let appTransactions: [AppTransactionStatement]
  package internal(set) var events: [Event]
  /// To whose accounts the originalTransactionIds were said to belong, and when.
  package internal(set) var attributions: [AccountAssociation] = []
  /// For how long access may be held while a look-up is open.
  package internal(set) var hold = AccessHold.off
  /// By which Apple is being asked now because of what V1 alone reported, by originalTransactionId.
  package internal(set) var lookUps: [String: PendingLookup] = [:]
  /// Whether the app has a key of the App Store Server API: without one nothing can be confirmed.
  package internal(set) var canAskApple = false
  /// Links of the customers to others that only unsigned messages make.
  ///
  /// Of a dossier in pieces they are in the first.
  package internal(set) var claimedLinks: [UnconfirmedLink] = []
  /// OriginalTransactionIds to which only unsigned messages give the id that was asked for, and that are not told of.
  package internal(set) var claimedOriginals: [String] = []
  /// Whether more is claimed by what nobody signed than is told here; all that is signed is.
  package internal(set) var claimsAreCut = false

  /// How a subscription among these purchases stands at `now`, by the app's policies and the look-ups that are open.
  package func accessDecision(of subscription: Subscription, at now: Timestamp) -> AccessDecision {
    subscription.accessDecision(at: now, lookUp: lookUps[subscription.key.originalTransactionID], hold: hold)
  }
}

extension LedgerStore {
  /// How much of a customer is told.
  package enum Extent: String, Sendable {
    /// The purchases below the originalTransactionIds that the id leads to.
    case purchases
    /// All purchases of the customers to whom they belong.
    case customers
  }

  /// What is known under `id` (a transaction, original transaction, line item or app transaction id, an account token or
  /// a user id of the app's back end), one dossier for each environment that knows it.
  ///
  /// All of it at once: for customers of any size read `matches` and each of their pieces.
  package func dossiers(of id: String, app: App, extent: Extent) async throws(DatabaseError) -> [CustomerRecord] {
    try await pool.read { session throws(DatabaseError) in
      try Self.dossiers(of: id, app: app, extent: extent, in: session)
    }
  }

  /// The same over a connection that the caller has.
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

  /// A dossier for each match, when none is of more than one piece and none of their lists has more than `rows` rows; else
  /// nil.
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

  /// All that is known of a piece of a match; `tooLarge` when one of its lists has more signed rows than one look-up may hold.
  ///
  /// Of what is claimed as much as `IDResolution.mostClaims` allows.
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

  /// Which of these originalTransactionIds a purchase of the app is known under.
  package func purchased(
    _ originals: [String], app: App, environment: Environment
  ) async throws(DatabaseError) -> Set<String> {
    try await pool.read { session throws(DatabaseError) in
      var known: Set<String> = []
      // One by one: of a subscription of thousands of periods one row is enough.
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
  /// Adds the next piece, whose originalTransactionIds come after all of these.
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
