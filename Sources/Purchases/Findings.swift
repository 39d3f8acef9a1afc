/// All that one message taught: what it stated, what happened, and who belongs together.
public struct Findings: Hashable, Sendable {
  public var app: String
  public var environment: Environment
  /// Whether Apple gave us the message in answer to a question of ours: what is unsigned in it is proven all the same.
  public var isFetched = false
  public var purchases: [PurchaseStatement] = []
  public var renewals: [RenewalStatement] = []
  public var appTransactions: [AppTransactionStatement] = []
  public var events: [Event] = []
  /// Who belongs together, by Apple's word alone.
  public var links: [CustomerLink] = []
  /// Ids that an unsigned message names together.
  ///
  /// They join nobody: anybody who has an old copy of the app can make such a message.
  public var claimedLinks: [CustomerLink] = []
  /// The ids under which the app's back end knows the users, as it said.
  public var userIDs: [AccountAssociation] = []
  /// Of `originalTransactionIDs` those of a verified receipt that does not sign its environment: Apple has yet to confirm
  /// that they are of this one.
  public var unplacedOriginals: Set<String> = []
  /// The user ids that came with an id of which nothing else is known.
  public var waitingUserIDs: [PendingUserID] = []
  /// By what Apple's history can be asked: of receipts, V1 bodies, answers and uploads.
  public var seeds: [TransactionReference] = []
  /// Further ids of the same purchases: one V1 body may call one charge by several transaction ids.
  public var furtherAliases: [Alias] = []

  public init(app: String, environment: Environment) {
    self.app = app
    self.environment = environment
  }

  /// Adds what another part of the same message taught, of the same app and environment.
  public mutating func merge(_ other: Self) {
    purchases += other.purchases
    renewals += other.renewals
    appTransactions += other.appTransactions
    events += other.events
    links += other.links
    claimedLinks += other.claimedLinks
    userIDs += other.userIDs
    unplacedOriginals.formUnion(other.unplacedOriginals)
    waitingUserIDs += other.waitingUserIDs
    let known = Set(seeds.map(\.transactionID))
    seeds += other.seeds.filter { !known.contains($0.transactionID) }
    furtherAliases += other.furtherAliases
  }

  /// Every id by which one of the statements may be asked for.
  public var aliases: [Alias] {
    var aliases =
      purchases.flatMap { Alias.all(of: $0) } + renewals.flatMap { Alias.all(of: $0) } + furtherAliases
    if isFetched { for place in aliases.indices { aliases[place].isClaimed = false } }
    return aliases
  }

  /// The links that the signed statements themselves make: an appTransactionId is of one customer.
  public var derivedLinks: [CustomerLink] {
    let pairs =
      purchases.filter(\.source.isSigned).map { ($0.key.originalTransactionID, $0.facts.text(.appTransactionId)) }
      + renewals.filter(\.source.isSigned).map { ($0.key.originalTransactionID, $0.facts.text(.appTransactionId)) }
    let links = pairs.compactMap { original, appTransaction -> CustomerLink? in
      guard let appTransaction, appTransaction != "", appTransaction != "0" else { return nil }
      return CustomerLink(
        app: app, environment: environment, .originalTransactionID(original), .appTransactionID(appTransaction))
    }
    return Array(Set(links))
  }

  /// Makes one customer of everything that the statements are about.
  public mutating func linkCustomers() {
    links += CustomerLink.chain(originalTransactionIDs, app: app, environment: environment)
  }

  /// Notes as claimed links that one message names all these purchases; leaves out what `links` joins already.
  public mutating func claimLinks() {
    var joined = CustomerLabels()
    for link in links { joined.join(link.a, link.b) }
    claimedLinks += CustomerLink.chain(originalTransactionIDs, app: app, environment: environment).filter {
      joined.label(of: $0.a) != joined.label(of: $0.b)
    }
  }

  /// Whether Apple vouches for what `source` states in this message.
  func isProven(_ source: Source) -> Bool { isFetched || source.isSigned }

  /// The originalTransactionIds of which Apple vouches for a statement in this message.
  var provenOriginals: Set<String> {
    Set(
      purchases.filter { isProven($0.source) }.map(\.key.originalTransactionID)
        + renewals.filter { isProven($0.source) }.map(\.key.originalTransactionID))
  }

  /// The seeds whose ids nothing names that Apple signed: anybody may have made them up.
  ///
  /// The greatest first. A receipt that signs no environment proves its ids all the same. What a V1 body vouches for is claimed.
  public var unverifiedSeeds: [TransactionReference] {
    if isFetched { return [] }
    let others = provenOriginals.union(unplacedOriginals).union(claimedOriginals)
    return seeds.filter { !$0.isSigned && !others.contains($0.transactionID) }.sorted { a, b in
      (a.transactionID.utf8.count, a.transactionID) > (b.transactionID.utf8.count, b.transactionID)
    }
  }

  /// The originalTransactionIds that unsigned data alone names in this message.
  public var claimedIDs: Set<String> { Set(originalTransactionIDs).subtracting(provenOriginals) }

  /// The originalTransactionIds that the statements are about, each once, in order.
  public var originalTransactionIDs: [String] {
    Set(purchases.map(\.key.originalTransactionID) + renewals.map(\.key.originalTransactionID)).sorted()
  }
}
