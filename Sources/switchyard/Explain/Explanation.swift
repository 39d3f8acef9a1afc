import JSON
import Ledger
import Mappings
import Purchases
import Time

/// The data about an ID's customers in one environment, with every source.
struct Explanation {
  let app: String
  let id: String
  let now: Timestamp
  let dossier: CustomerRecord
  let purchases: [Purchase]
  let subscriptions: [ExplainedSubscription]
  let appTransactions: [ExplainedThing]
  let events: [ExplainedEvent]
  let accounts: [AccountAssociation]
  let transfers: [AccountTransfer]
  /// The present owner of each originalTransactionId that passed from one account to another.
  let owners: [String: PresentOwner]
  let limit: ExplanationLimit
  private let vocabulary: Vocabulary

  init(
    _ dossier: CustomerRecord, app: String, id: String, vocabulary: Vocabulary, now: Timestamp, limit: ExplanationLimit
  ) {
    (self.app, self.id, self.now, self.dossier, self.vocabulary) = (app, id, now, dossier, vocabulary)
    self.limit = limit
    let purchases = Purchase.fold(dossier.purchases, rules: vocabulary.purchases.rules)
    self.purchases = purchases
    let accounts = AccountAssociation.merged(dossier.attributions)
    transfers = AccountTransfer.all(in: accounts, purchases: purchases)
    owners = Dictionary(
      uniqueKeysWithValues: AccountTransfer.owners(after: transfers).map { original, owner in
        let told = accounts.filter { $0.originalTransactionID == original }
        return (original, PresentOwner(accounts: owner, isAnother: AccountTransfer.isFormer(id, owner, among: told)))
      })
    self.accounts = accounts
    let renewals = Dictionary(grouping: dossier.renewals, by: \.key)
    let periods = Dictionary(grouping: purchases, by: \.key.subscription)
    let keys = Set(periods.keys).union(renewals.keys)
    let owners = owners
    subscriptions = keys.sorted { $0.originalTransactionID < $1.originalTransactionID }.compactMap { key in
      let said = renewals[key] ?? []
      let subscription = Subscription(
        key: key, purchases: periods[key] ?? [], renewal: Resolved(said, rules: vocabulary.renewals.rules))
      guard subscription != nil || !said.isEmpty else { return nil }
      return ExplainedSubscription(
        key: key, subscription: subscription,
        decision: subscription.map { dossier.accessDecision(of: $0, at: now) },
        lookUp: dossier.lookUps[key.originalTransactionID],
        owner: owners[key.originalTransactionID],
        renewal: ExplainedThing(said, vocabulary.renewals.rules, vocabulary.rules))
    }
    let downloads = Dictionary(grouping: dossier.appTransactions, by: \.key.appTransactionID)
    appTransactions = downloads.sorted { $0.key < $1.key }.compactMap { _, said in
      ExplainedThing(said, vocabulary.appTransactions.rules) { field, _, _ in
        [vocabulary.appTransactions.rules[field].id]
      }
    }
    let index = PeriodIndex(subscriptions.compactMap { $0.subscription?.shown(at: now) })
    events = MergedEvent.toldAndLearned(in: dossier.events, purchases: purchases).map { occurrence in
      ExplainedEvent(occurrence: occurrence, isSuperseded: index.isSuperseded(occurrence.event))
    }
  }

  /// Purchases that only unsigned messages link to these, or identify by the requested ID.
  var claimedNeighbours: [UnconfirmedPurchase] {
    var found = dossier.claimedLinks.map { link -> UnconfirmedPurchase in
      let isFirst = dossier.customers.values.contains { $0.contains(link.a) }
      let (member, other) = isFirst ? (link.a, link.b) : (link.b, link.a)
      return UnconfirmedPurchase(originalTransactionID: other.id, member: member.id, message: link.message)
    }
    for original in dossier.claimedOriginals {
      found.append(UnconfirmedPurchase(originalTransactionID: original, member: nil, message: nil))
    }
    return found
  }

  /// The full length of each list, regardless of the limit.
  var counts: [(name: String, count: Int)] {
    [
      ("members", dossier.customers.values.reduce(0) { $0 + $1.count }), ("subscriptions", subscriptions.count),
      ("purchases", purchases.count), ("appTransactions", appTransactions.count), ("events", events.count),
      ("accounts", accounts.count), ("transfers", transfers.count),
    ]
  }

  var isCut: Bool {
    guard let most = limit.count else { return false }
    return dossier.customers.values.contains { $0.count > most }
      || [purchases.count, events.count, accounts.count, transfers.count].contains { $0 > most }
  }

  func thing(_ purchase: Purchase) -> ExplainedThing? {
    let upgrade = purchase.resolved.origins[.isUpgraded].flatMap { reason in
      purchase.facts[.isUpgraded].map { value in
        ExplainedThing.Word(
          value: value, source: reason.source, asOf: reason.asOf, message: reason.message,
          isInferred: reason.isInferred, verdict: .counts,
          rows: vocabulary.rules(behind: .isUpgraded, of: purchase.facts, from: reason.source))
      }
    }
    return ExplainedThing(
      purchase.statements, vocabulary.purchases.rules, supposed: upgrade.map { [.isUpgraded: $0] } ?? [:],
      vocabulary.rules)
  }

  /// The distinct messages behind the data, latest last.
  var messages: [[UInt8]] {
    var words: [(Timestamp, [UInt8])] = dossier.purchases.map { ($0.rank.asOf, $0.message) }
    words += dossier.renewals.map { ($0.rank.asOf, $0.message) }
    words += dossier.appTransactions.map { ($0.rank.asOf, $0.message) }
    words += dossier.events.map { ($0.rank.asOf, $0.message) }
    words += dossier.attributions.map { ($0.lastAsOf, $0.message) }
    let latest = Dictionary(words.map { ($0.1, $0.0) }, uniquingKeysWith: max)
    return latest.sorted { a, b in
      a.value != b.value ? a.value < b.value : a.key.lexicographicallyPrecedes(b.key)
    }.map(\.key)
  }
}

/// Apple's renewal intent and the subscription's status; the periods are among the purchases.
struct ExplainedSubscription {
  let key: SubscriptionKey
  /// `nil` if only renewals are known, and no period.
  let subscription: Subscription?
  let decision: AccessDecision?
  /// The pending lookup of data that only V1 reported.
  let lookUp: PendingLookup?
  /// `nil` if it never passed from one account to another.
  let owner: PresentOwner?
  let renewal: ExplainedThing?

  /// Whether the requested account has access, or without one the subscription's present owner.
  var grantsAccess: Bool { decision?.grantsAccess == true && owner?.isAnother != true }
}

/// The account that owns a subscription now, after it passed from another.
struct PresentOwner {
  let accounts: [AccountAssociation.Kind: String]
  /// Whether the requested account owned it once, and no longer does.
  let isAnother: Bool
}

/// A purchase that only unsigned messages link to the customer.
struct UnconfirmedPurchase {
  let originalTransactionID: String
  /// The customer's ID in the message; `nil` if the message uses the requested ID.
  let member: String?
  /// The message's digest, if a link is stored.
  let message: [UInt8]?
}

struct ExplainedEvent {
  let occurrence: MergedEvent
  let isSuperseded: Bool
}

/// A purchase, a renewal or an app transaction, field by field.
struct ExplainedThing {
  struct Field {
    let name: String
    let kind: FactKind
    /// The row of `Mappings` that defines absence and authority.
    let rule: String
    /// The sources, ordered by authority.
    let words: [Word]

    var counting: Word? { words.first { $0.verdict == .counts } }
  }

  struct Word {
    let value: JSONValue
    let source: Source
    let asOf: Timestamp
    let message: [UInt8]
    let isInferred: Bool
    let verdict: Outcome
    /// The rows of `Mappings` behind the source's statement.
    let rows: [String]
  }

  let fields: [Field]

  /// Returns the rows of `Mappings` behind a source's field, given all its fields.
  typealias Rows<F: FactField> = (F, Facts<F>, Source) -> [String]

  /// Returns `nil` without any source.
  ///
  /// - Parameter supposed: derived values, used if no source states a field.
  init?<Key, F: FactField>(
    _ statements: [Statement<Key, F>], _ rules: FoldRules<F>, supposed: [F: Word] = [:], _ rows: Rows<F>
  ) {
    guard !statements.isEmpty else { return nil }
    fields = F.allCases.compactMap { field in
      var words = FieldStatement.all(about: field, in: statements, rules: rules).map { word in
        Word(
          value: word.value, source: word.source, asOf: word.asOf, message: word.message,
          isInferred: word.isInferred, verdict: word.verdict, rows: rows(field, word.facts, word.source))
      }
      if let word = supposed[field], !words.contains(where: { $0.verdict == .counts }) { words.append(word) }
      return words.isEmpty ? nil : Field(name: field.name, kind: field.kind, rule: rules[field].id, words: words)
    }
  }
}
