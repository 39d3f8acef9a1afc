import JSON
import Ledger
import Mappings
import Purchases
import Signing
import Time

/// What is known of purchases and customers as the JSON that the service answers; facts by Apple's V2 names.
struct Document {
  let vocabulary: Vocabulary
  /// The time at which a subscription's status is told.
  let now: Milliseconds
  let showsProvenance: Bool

  func describe(_ dossier: Dossier, _ extent: Ledger.Extent) -> JSONObject {
    let purchases = Purchase.fold(dossier.purchases, rules: vocabulary.purchases.rules)
    let subscriptions = subscriptions(purchases, dossier.renewals)
    var object: JSONObject = ["environment": .string(dossier.environment.rawValue)]
    switch extent {
    case .purchases: break
    case .customers: object["customers"] = .array(dossier.customers.sorted { $0.key < $1.key }.map(customer))
    }
    object["purchases"] = .array(purchases.map { .object(describe($0)) })
    object["subscriptions"] = .array(subscriptions.map { .object(describe($0, in: dossier)) })
    let downloads = Dictionary(grouping: dossier.appTransactions, by: \.key.appTransactionID)
    object["appTransactions"] = .array(
      downloads.sorted { $0.key < $1.key }.compactMap { _, statements in
        Folded(statements, rules: vocabulary.appTransactions.rules).map { .object(describe($0)) }
      })
    let bySubscription = Dictionary(subscriptions.map { ($0.key.originalTransactionID, $0) }) { first, _ in first }
    object["events"] = .array(
      Occurrence.toldAndLearned(in: dossier.events, purchases: purchases).map { occurrence in
        let subscription = occurrence.event.originalTransactionID.flatMap { bySubscription[$0] }
        return .object(describe(occurrence, isSuperseded: subscription?.isSuperseded(occurrence.event) ?? false))
      })
    object["accounts"] = .array(Attribution.merged(dossier.attributions).map { .object(describe($0)) })
    object["transfers"] = .array(
      Transfer.all(in: dossier.attributions, purchases: purchases).map { .object(describe($0)) })
    return object
  }

  private func customer(_ label: String, _ members: Set<CustomerNode>) -> JSONValue {
    var originals: [JSONValue] = []
    var appTransactions: [JSONValue] = []
    for member in members.sorted() {
      switch member {
      case .originalTransactionID(let id): originals.append(.string(id))
      case .appTransactionID(let id): appTransactions.append(.string(id))
      }
    }
    return [
      "customer": .string(CustomerNode(text: label)?.id ?? label), "originalTransactionIds": .array(originals),
      "appTransactionIds": .array(appTransactions),
    ]
  }

  private func subscriptions(_ purchases: [Purchase], _ renewals: [RenewalStatement]) -> [Subscription] {
    let intentions = Dictionary(grouping: renewals, by: \.key)
    let periods = Dictionary(grouping: purchases) { purchase in
      SubscriptionKey(
        app: purchase.key.app, environment: purchase.key.environment,
        originalTransactionID: purchase.key.originalTransactionID)
    }
    return periods.sorted { $0.key.originalTransactionID < $1.key.originalTransactionID }.compactMap { key, purchases in
      Subscription(
        key: key, purchases: purchases,
        renewal: Folded(intentions[key] ?? [], rules: vocabulary.renewals.rules))
    }
  }

  private func describe(_ purchase: Purchase) -> JSONObject {
    var object = describe(purchase.folded)
    object["line"] = .string(purchase.key.line.text)
    object["confirmed"] = .bool(purchase.isConfirmed)
    return object
  }

  private func describe(_ subscription: Subscription, in dossier: Dossier) -> JSONObject {
    var object: JSONObject = ["originalTransactionId": .string(subscription.key.originalTransactionID)]
    // Without an expiry that can be read there is no status: said as such, not left out.
    let standing = dossier.standing(of: subscription, at: now)
    object["status"] = standing.status.map { .integer(Int64($0.rawValue)) } ?? .null
    object["statusName"] = standing.status.map { .string($0.name) } ?? .null
    object["confirmed"] = .bool(standing.isConfirmed)
    object["grantsAccess"] = .bool(standing.grantsAccess)
    object["accessHeldUntil"] = standing.accessHeldUntil.map { .integer($0.sinceEpoch) }
    if let lookUp = dossier.lookUps[subscription.key.originalTransactionID] {
      object["lookUp"] = .object(lookUp.json)
    } else if !standing.isConfirmed, !dossier.canAskApple {
      // Nobody will confirm it, so it is not to be waited for.
      object["lookUp"] = ["state": "noAPIKey"]
    }
    if let current = subscription.current {
      object["productId"] = current.productID.map(JSONValue.string)
      object["expiresDate"] = current.expiresDate.map { .integer($0.sinceEpoch) }
    }
    object["renewal"] = subscription.renewal.map { .object(describe($0)) }
    return object
  }

  private func describe<Field>(_ folded: Folded<Field>) -> JSONObject {
    var object = folded.facts.json
    object["asOf"] = .integer(folded.asOf.sinceEpoch)
    if showsProvenance {
      object["provenance"] = .object(
        JSONObject(
          folded.facts.known.compactMap { field, _ in
            folded.provenance[field].map { (field.name, .object(describe($0))) }
          }))
    }
    return object
  }

  private func describe(_ provenance: Provenance) -> JSONObject {
    [
      "source": .string(provenance.source.name), "asOf": .integer(provenance.asOf.sinceEpoch),
      "rule": .string(provenance.rule), "message": .string(Digest(bytes: provenance.message)?.hex ?? ""),
      "inferred": .bool(provenance.isInferred),
    ]
  }

  private func describe(_ occurrence: Occurrence, isSuperseded: Bool) -> JSONObject {
    let event = occurrence.event
    var object = event.json
    object["source"] = .string(event.source.name)
    object["rule"] = event.rule.map(JSONValue.string)
    if isSuperseded { object["superseded"] = true }
    if occurrence.tellings.count > 1 { object["tellings"] = .integer(Int64(occurrence.tellings.count)) }
    return object
  }

  private func describe(_ attribution: Attribution) -> JSONObject {
    var object: JSONObject = [
      attribution.kind.name: .string(attribution.value),
      "originalTransactionId": .string(attribution.originalTransactionID),
      "firstAsOf": .integer(attribution.firstAsOf.sinceEpoch), "lastAsOf": .integer(attribution.lastAsOf.sinceEpoch),
    ]
    if attribution.line.text != "" { object["line"] = .string(attribution.line.text) }
    return object
  }

  private func describe(_ transfer: Transfer) -> JSONObject {
    [
      "originalTransactionId": .string(transfer.originalTransactionID), "of": .string(transfer.kind.name),
      "from": .string(transfer.from), "to": .string(transfer.to), "date": .integer(transfer.date.sinceEpoch),
    ]
  }
}
