package import Database
package import Purchases

/// The customers that an ID leads to in one environment.
///
/// Their data is read piece by piece.
package struct IDResolution: Sendable {
  package let environment: Environment
  /// The members of each customer, by the smallest one, which names the customer.
  package let customers: [String: Set<CustomerNode>]
  /// The included originalTransactionIds in order, in pieces that are read together.
  ///
  /// Without a purchase there is one empty piece.
  package let pieces: [[String]]
  /// The customers' links to others by only unsigned messages.
  ///
  /// They are shown, but not followed.
  let claimedLinks: [UnconfirmedLink]
  /// The originalTransactionIds of otherwise known purchases to which only unsigned messages assign the ID.
  ///
  /// They are shown without their data.
  let claimedOriginals: [String]
  /// Whether more originalTransactionIds are claimed to have the ID than one lookup may hold.
  let claimsAreCut: Bool
  let policies: LookUpPolicies

  /// The maximum number of originalTransactionIds of one ID.
  package static let mostOriginals = 50_000
  /// The maximum number of rows of one kind in a piece: one originalTransactionId may have thousands of periods.
  package static let mostRows = ReadLimit.mostSigned
  /// The maximum number of unsigned rows of one kind and source in a piece, as many as the longest verifyReceipt
  /// response has.
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

/// The settings of an app that affect lookups, read once for all pieces.
struct LookUpPolicies: Sendable {
  let hold: AccessHold
  let canAskApple: Bool

  init(of app: App, in session: borrowing Session) throws(DatabaseError) {
    hold = try PolicyTable.accessHold(of: app, in: session)
    canAskApple = try CredentialTable.has(.apiKey, of: app, in: session)
  }
}

extension LedgerStore {
  /// Returns the customers of `id` in each environment that knows it.
  ///
  /// Throws `tooLarge` above the limit, claims excluded. An ID from only unsigned messages counts only if it has no
  /// other data and the purchase has no signed data.
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
      // An app transaction is searched by its own ID only if the ID is not a purchase's.
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
