/// The contents of one message: statements, events and customer links.
public struct Findings: Hashable, Sendable {
  public var app: String
  public var environment: Environment
  /// Whether Switchyard fetched the message from Apple: then its unsigned data is proven too.
  public var isFetched = false
  public var purchases: [PurchaseStatement] = []
  public var renewals: [RenewalStatement] = []
  public var appTransactions: [AppTransactionStatement] = []
  public var events: [Event] = []
  /// The customer links by only Apple's data.
  public var links: [CustomerLink] = []
  /// The IDs that an unsigned message names together.
  ///
  /// They join no customers: any holder of an old copy of the app can create such a message.
  public var claimedLinks: [CustomerLink] = []
  /// The user IDs from the app's back end.
  public var userIDs: [AccountAssociation] = []
  /// The `originalTransactionIDs` in a verified receipt without a signed environment.
  ///
  /// Apple has not confirmed their environment yet.
  public var unplacedOriginals: Set<String> = []
  /// The user IDs that came with only a transaction's ID.
  public var waitingUserIDs: [PendingUserID] = []
  /// The IDs for requests of Apple's history, from receipts, V1 bodies, responses and uploads.
  public var seeds: [TransactionReference] = []
  /// Further IDs of the same purchases: one V1 body may name one charge by several transaction IDs.
  public var furtherAliases: [Alias] = []

  public init(app: String, environment: Environment) {
    self.app = app
    self.environment = environment
  }

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

  public var aliases: [Alias] {
    var aliases =
      purchases.flatMap { Alias.all(of: $0) } + renewals.flatMap { Alias.all(of: $0) } + furtherAliases
    if isFetched { for place in aliases.indices { aliases[place].isClaimed = false } }
    return aliases
  }

  /// The links from the signed statements: an appTransactionId belongs to one customer.
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

  /// Joins all purchases of the statements into one customer.
  public mutating func linkCustomers() {
    links += CustomerLink.chain(originalTransactionIDs, app: app, environment: environment)
  }

  /// Claims links between all purchases of the message, without those that `links` joins already.
  public mutating func claimLinks() {
    var joined = CustomerLabels()
    for link in links { joined.join(link.a, link.b) }
    claimedLinks += CustomerLink.chain(originalTransactionIDs, app: app, environment: environment).filter {
      joined.label(of: $0.a) != joined.label(of: $0.b)
    }
  }

  func isProven(_ source: Source) -> Bool { isFetched || source.isSigned }

  /// The originalTransactionIds with a proven statement in this message.
  var provenOriginals: Set<String> {
    Set(
      purchases.filter { isProven($0.source) }.map(\.key.originalTransactionID)
        + renewals.filter { isProven($0.source) }.map(\.key.originalTransactionID))
  }

  /// The seeds without signed data, which any sender may have invented.
  ///
  /// The greatest first. A receipt without a signed environment still proves its IDs. Those of a V1 body are claimed.
  public var unverifiedSeeds: [TransactionReference] {
    if isFetched { return [] }
    let others = provenOriginals.union(unplacedOriginals).union(claimedOriginals)
    return seeds.filter { !$0.isSigned && !others.contains($0.transactionID) }.sorted { a, b in
      (a.transactionID.utf8.count, a.transactionID) > (b.transactionID.utf8.count, b.transactionID)
    }
  }

  /// The originalTransactionIds that only unsigned data names in this message.
  public var claimedIDs: Set<String> { Set(originalTransactionIDs).subtracting(provenOriginals) }

  /// The originalTransactionIds of the statements, each once, in order.
  public var originalTransactionIDs: [String] {
    Set(purchases.map(\.key.originalTransactionID) + renewals.map(\.key.originalTransactionID)).sorted()
  }
}
