package import Database
package import Purchases

/// Whom an id leads to in one environment; what is known of them is read piece by piece.
package struct IDResolution: Sendable {
  package let environment: Environment
  /// The customers: the smallest member, by which a customer is called, and all members.
  package let customers: [String: Set<CustomerNode>]
  /// The originalTransactionIds that are told of, in order, as many at a time as are read at once; one at least, which is
  /// empty when no purchase is known.
  package let pieces: [[String]]
  /// Links of the customers to others that only unsigned messages make: shown, and followed by nobody.
  let claimedLinks: [UnconfirmedLink]
  /// OriginalTransactionIds to which only unsigned messages give the id, of purchases that are otherwise known: shown,
  /// and not told of.
  let claimedOriginals: [String]
  /// Whether more originalTransactionIds are claimed to have the id than one look-up may hold.
  let claimsAreCut: Bool
  let policies: LookUpPolicies

  /// OriginalTransactionIds that one id may lead to.
  package static let mostOriginals = 50_000
  /// Rows of one kind that a piece may hold: below one originalTransactionId there may be thousands of periods.
  package static let mostRows = ReadLimit.mostSigned
  /// Rows of one kind and source that a piece tells of what nobody signed: as many as the longest answer of verifyReceipt has.
  package static let mostClaims = ReadLimit.mostClaimed

  init(
    environment: Environment, customers: [String: Set<CustomerNode>], originals: [String],
    claimedLinks: [UnconfirmedLink] = [], claimedOriginals: [String] = [], claimsAreCut: Bool = false,
    policies: LookUpPolicies
  ) {
    self.environment = environment
    self.customers = customers
    self.claimedLinks = claimedLinks
    self.claimedOriginals = claimedOriginals
    self.claimsAreCut = claimsAreCut
    pieces = originals.isEmpty ? [[]] : originals.parts()
    self.policies = policies
  }
}

/// The settings of an app that affect lookups: read once for all pieces.
struct LookUpPolicies: Sendable {
  /// For how long access may be held while a look-up is open.
  let hold: AccessHold
  /// Whether the app has a key of the App Store Server API.
  let canAskApple: Bool

  init(of app: App, in session: borrowing Session) throws(DatabaseError) {
    hold = try PolicyTable.accessHold(of: app, in: session)
    canAskApple = try CredentialTable.has(.apiKey, of: app, in: session)
  }
}

extension LedgerStore {
  /// Whom `id` leads to, in each environment that knows it; `tooLarge` when it leads to more than one look-up may hold,
  /// claims apart.
  ///
  /// An id that only unsigned messages give to a purchase leads to it where nothing else is known under the id, and
  /// nothing signed of the purchase.
  package static func matches(
    of id: String, app: App, extent: Extent, in session: borrowing Session
  ) throws(DatabaseError) -> [IDResolution] {
    var found: [Environment: [CustomerNode]] = [:]
    try AliasTable.resolve(id, app: app, atMost: IDResolution.mostOriginals, in: session) {
      found[$0, default: []].append($1)
    }
    var claimed: [Environment: [String]] = [:]
    let claimsAreCut = try AliasTable.resolveClaimed(id, app: app, atMost: IDResolution.mostOriginals, in: session) {
      claimed[$0, default: []].append($1)
    }
    var matches: [IDResolution] = []
    for environment in Environment.allCases {
      let scope = AppScope(app: app.id, environment: environment)
      var nodes = found[environment] ?? []
      var withheld = claimed[environment] ?? []
      if nodes.isEmpty {
        let signed = try AliasTable.signed(withheld, in: scope, session)
        nodes = withheld.filter { !signed.contains($0) }.map(CustomerNode.originalTransactionID)
        withheld = withheld.filter(signed.contains)
      }
      guard !nodes.isEmpty || !withheld.isEmpty else { continue }
      let purchased = nodes.filter { $0.originalTransactionID != nil }
      // By its own id an app transaction is asked for only where it is no purchase's.
      let customers = try CustomerMembers.customers(of: purchased.isEmpty ? nodes : purchased, in: scope, session)
      let originals: [String]
      switch extent {
      case .purchases: originals = purchased.compactMap(\.originalTransactionID)
      case .customers: originals = Set(customers.values.joined().compactMap(\.originalTransactionID)).sorted()
      }
      guard originals.count <= IDResolution.mostOriginals else { throw ReadLimit.tooLarge(IDResolution.mostOriginals) }
      let members = Set(customers.values.joined())
      let claimedLinks: [UnconfirmedLink] =
        switch extent {
        case .purchases: []
        case .customers: try UnconfirmedLinkTable.links(from: members, in: scope, session)
        }
      matches.append(
        IDResolution(
          environment: environment, customers: customers, originals: originals, claimedLinks: claimedLinks,
          claimedOriginals: withheld.filter { !members.contains(.originalTransactionID($0)) },
          claimsAreCut: claimsAreCut,
          policies: try LookUpPolicies(of: app, in: session)))
    }
    return matches
  }
}

extension CustomerNode {
  var originalTransactionID: String? { if case .originalTransactionID(let id) = self { id } else { nil } }
  var appTransactionID: String? { if case .appTransactionID(let id) = self { id } else { nil } }
}
