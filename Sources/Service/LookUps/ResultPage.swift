import JSON
import Ledger
import Mappings
import Purchases

/// The response for one environment: a page of each list, and the status of all subscriptions.
///
/// The customer comes in pieces, so that memory holds at most a piece and a page.
struct ResultPage {
  private let document: PurchaseDocument
  /// The requested ID; `nil` if it does not matter.
  private let id: String?
  private let customers: [String: Set<CustomerNode>]
  private let environment: Environment
  private let extent: LedgerStore.Extent
  private let isLater: Bool
  private let claimBytes: Int
  private var linkRoom: Int
  private var subscriptions: [JSONValue] = []
  private var claimedLinks: [JSONValue] = []
  private var claimsAreCut = false
  private var members: PageList<CustomerNode>
  private var purchases: PageList<Purchase>
  private var appTransactions: PageList<Resolved<AppTransactionField>>
  private var events: PageList<(occurrence: MergedEvent, isSuperseded: Bool)>
  private var accounts: PageList<AccountAssociation>
  private var transfers: PageList<AccountTransfer>
  /// The present owners of each originalTransactionId that passed from one account to another.
  private var owners: [String: [AccountAssociation.Kind: String]] = [:]

  /// A number above any list's length.
  static let everything = Int.max / 4

  /// - Parameters:
  ///   - limit: items of each list.
  ///   - claimBytes: the JSON bytes that unverified items may take.
  ///   - ends: the end of the previous page; nil for the first.
  init(
    _ document: PurchaseDocument, on id: String? = nil, of customers: [String: Set<CustomerNode>],
    in environment: Environment,
    _ extent: LedgerStore.Extent, limit: Int = Self.everything, claimBytes: Int = Self.everything,
    after ends: PageCursor.Ends? = nil
  ) {
    self.document = document
    self.id = id
    self.customers = customers
    self.environment = environment
    self.extent = extent
    self.claimBytes = claimBytes
    linkRoom = claimBytes / 4
    isLater = ends != nil
    members = PageList(limit: limit, after: ends?[.members])
    purchases = PageList(limit: limit, after: ends?[.purchases])
    appTransactions = PageList(limit: limit, after: ends?[.appTransactions])
    events = PageList(limit: limit, after: ends?[.events])
    accounts = PageList(limit: limit, after: ends?[.accounts])
    transfers = PageList(limit: limit, after: ends?[.transfers])
    switch extent {
    case .purchases: break
    case .customers: for member in customers.values.joined() { members.add(member, at: ItemPosition(member)) }
    }
  }

  /// Adds the data of some originalTransactionIds, which must come after those of earlier pieces.
  mutating func add(_ piece: CustomerRecord) {
    let vocabulary = document.vocabulary
    claimsAreCut = claimsAreCut || piece.claimsAreCut
    let links =
      piece.claimedLinks.map { .object(PurchaseDocument.describe($0, of: customers)) }
      + piece.claimedOriginals.map { ["originalTransactionId": .string($0)] as JSONValue }
    for link in links {
      linkRoom -= link.encoded().count
      // Only the first page has them, so they do not continue.
      guard linkRoom >= 0 else {
        claimsAreCut = true
        break
      }
      claimedLinks.append(link)
    }
    let folded = Purchase.fold(piece.purchases, rules: vocabulary.purchases.rules)
    for purchase in folded { purchases.add(purchase, at: ItemPosition(purchase), isClaimed: purchase.isClaimed) }
    let subscriptions = document.subscriptions(folded, piece.renewals)
    let attributions = AccountAssociation.merged(piece.attributions)
    let passed = AccountTransfer.all(in: attributions, purchases: folded)
    let owners = AccountTransfer.owners(after: passed)
    self.owners.merge(owners) { first, _ in first }
    self.subscriptions += subscriptions.map { subscription in
      let original = subscription.key.originalTransactionID
      return .object(
        describe(
          subscription, in: piece, owners[original] ?? [:],
          attributions.filter { owners[original] != nil && $0.originalTransactionID == original }))
    }
    for (id, statements) in Dictionary(grouping: piece.appTransactions, by: \.key.appTransactionID) {
      if let resolved = Resolved(statements, rules: vocabulary.appTransactions.rules) {
        appTransactions.add(resolved, at: ItemPosition(id: id))
      }
    }
    let periods = PeriodIndex(subscriptions.map { $0.shown(at: document.now) })
    let occurrences = MergedEvent.toldAndLearned(in: piece.events, purchases: folded)
    // A derived event sorts with its purchase.
    let sources =
      occurrences.contains(where: \.isLearned)
      ? Dictionary(folded.map { ($0.signedKey, $0) }) { first, _ in first } : [:]
    for occurrence in occurrences {
      let isSuperseded = periods.isSuperseded(occurrence.event)
      let source = occurrence.isLearned ? occurrence.event.purchaseKey.flatMap { sources[$0] } : nil
      events.add(
        (occurrence, isSuperseded), at: ItemPosition(occurrence, learnedFrom: source.map(ItemPosition.init)),
        isClaimed: occurrence.isClaimed)
    }
    for attribution in attributions {
      accounts.add(attribution, at: ItemPosition(attribution), isClaimed: attribution.isClaimed)
    }
    var (last, repetition): (AccountTransfer?, Int64) = (nil, 0)
    for transfer in passed {
      repetition = transfer == last ? repetition + 1 : 0
      last = transfer
      transfers.add(transfer, at: ItemPosition(transfer, repetition: repetition))
    }
  }

  /// Describes a subscription.
  ///
  /// One that passed to another account includes its present owner, which is the only account with access.
  private func describe(
    _ subscription: Subscription, in piece: CustomerRecord, _ owners: [AccountAssociation.Kind: String],
    _ attributions: [AccountAssociation]
  ) -> JSONObject {
    var object = document.describe(subscription, in: piece)
    guard !owners.isEmpty else { return object }
    object["owner"] = .object(JSONObject(owner: owners))
    if let id, AccountTransfer.isFormer(id, owners, among: attributions) {
      object["grantsAccess"] = false
      object["accessHeldUntil"] = nil
    }
    return object
  }

  /// Returns the result as JSON, and the ends of its lists; `hasMore` if any list continues.
  ///
  /// A complete result is the same as without pages.
  mutating func finish() -> (object: JSONObject, ends: PageCursor.Ends, hasMore: Bool) {
    var (ends, hasMore, room): (PageCursor.Ends, Bool, Int) = ([:], false, claimBytes)
    func take<Item>(
      _ name: PageCursor.List, _ list: inout PageList<Item>, _ describe: (Item) -> JSONObject
    ) -> JSONValue {
      let (items, end, goesOn) = list.page(claimsWithin: &room, describe)
      ends[name] = end
      hasMore = hasMore || goesOn
      return .array(items)
    }
    var object: JSONObject = ["environment": .string(environment.rawValue)]
    switch extent {
    case .purchases: break
    case .customers:
      let (shown, end, goesOn) = members.page()
      (ends[.members], hasMore) = (end, goesOn)
      object["customers"] = .array(customers(showing: shown))
    }
    if !isLater, !claimedLinks.isEmpty { object["unconfirmedLinks"] = .array(claimedLinks) }
    object["purchases"] = take(.purchases, &purchases) { purchase in
      var object = document.describe(purchase)
      let original = purchase.key.originalTransactionID
      if !purchase.isSubscription { object["owner"] = owners[original].map { .object(JSONObject(owner: $0)) } }
      return object
    }
    object["subscriptions"] = .array(subscriptions)
    object["appTransactions"] = take(.appTransactions, &appTransactions) { document.describe($0) }
    object["events"] = take(.events, &events) { document.describe($0.occurrence, isSuperseded: $0.isSuperseded) }
    object["accounts"] = take(.accounts, &accounts) { document.describe($0) }
    object["transfers"] = take(.transfers, &transfers) { document.describe($0) }
    if claimsAreCut { object["unconfirmedTruncated"] = true }
    if hasMore || isLater { object["counts"] = .object(counts) }
    return (object, ends, hasMore)
  }

  private var counts: JSONObject {
    var counts: JSONObject = [:]
    switch extent {
    case .purchases: break
    case .customers:
      counts["customers"] = .integer(Int64(customers.count))
      counts["members"] = .integer(Int64(members.count))
    }
    let lists = [
      ("purchases", purchases.count), ("subscriptions", subscriptions.count),
      ("appTransactions", appTransactions.count), ("events", events.count), ("accounts", accounts.count),
      ("transfers", transfers.count),
    ]
    for (name, count) in lists { counts[name] = .integer(Int64(count)) }
    return counts
  }

  /// Returns each customer with its shown members, omitting customers without any.
  private func customers(showing shown: [CustomerNode]) -> [JSONValue] {
    let shown = Set(shown)
    return customers.sorted { $0.key < $1.key }.compactMap { label, members in
      let members = members.intersection(shown).sorted()
      guard !members.isEmpty else { return nil }
      let appTransactions = members.compactMap { member -> JSONValue? in
        if case .appTransactionID(let id) = member { .string(id) } else { nil }
      }
      let originals = members.compactMap { member -> JSONValue? in
        if case .originalTransactionID(let id) = member { .string(id) } else { nil }
      }
      return [
        "customer": .string(CustomerNode(text: label)?.id ?? label), "originalTransactionIds": .array(originals),
        "appTransactionIds": .array(appTransactions),
      ]
    }
  }
}

extension PurchaseDocument {
  /// Describes a whole dossier, regardless of the lists' lengths.
  func describe(_ dossier: CustomerRecord, _ extent: LedgerStore.Extent) -> JSONObject {
    var page = ResultPage(self, of: dossier.customers, in: dossier.environment, extent)
    page.add(dossier)
    return page.finish().object
  }
}

extension Event {
  fileprivate var purchaseKey: PurchaseKey? {
    guard let originalTransactionID, let line else { return nil }
    return PurchaseKey(
      app: app, environment: environment, originalTransactionID: originalTransactionID, line: line)
  }
}
