import JSON
import Ledger
import Mappings
import Purchases
import Signing
import Time

/// The JSON responses about purchases and customers; facts have Apple's V2 names.
struct PurchaseDocument {
  let vocabulary: Vocabulary
  /// The date of a subscription's status.
  let now: Timestamp
  let showsProvenance: Bool

  func subscriptions(_ purchases: [Purchase], _ renewals: [RenewalStatement]) -> [Subscription] {
    let intentions = Dictionary(grouping: renewals, by: \.key)
    let periods = Dictionary(grouping: purchases.filter(\.isSubscription), by: \.key.subscription)
    return periods.sorted { $0.key.originalTransactionID < $1.key.originalTransactionID }.compactMap { key, purchases in
      Subscription(
        key: key, purchases: purchases,
        renewal: Resolved(intentions[key] ?? [], rules: vocabulary.renewals.rules))
    }
  }

  /// Describes a purchase by its signed sources, with the claims of unsigned sources.
  func describe(_ purchase: Purchase) -> JSONObject {
    let shown = purchase.shown
    var object = describe(shown.resolved)
    object["line"] = .string(shown.key.line.text)
    object["confirmed"] = .bool(shown.isConfirmed)
    object["unconfirmed"] = claim(purchase.resolved, beside: shown.resolved).map(JSONValue.object)
    return object
  }

  /// Returns the fields of `whole` that `shown` lacks or has with other values, each with its source; `nil` without
  /// any.
  private func claim<Field>(_ whole: Resolved<Field>?, beside shown: Resolved<Field>?) -> JSONObject? {
    guard let whole else { return nil }
    let fields = whole.facts.known.compactMap { field, value -> (String, JSONValue)? in
      guard shown?.facts[field] != value, let origin = whole.origins[field] else { return nil }
      var object: JSONObject = ["value": value]
      for member in describe(origin) { object[member.key] = member.value }
      return (field.name, .object(object))
    }
    return fields.isEmpty ? nil : JSONObject(fields)
  }

  func describe(_ subscription: Subscription, in dossier: CustomerRecord) -> JSONObject {
    var object: JSONObject = ["originalTransactionId": .string(subscription.key.originalTransactionID)]
    // Without a readable expiry the status is explicitly unknown, not omitted.
    let decision = dossier.accessDecision(of: subscription, at: now)
    object["status"] = decision.status.map { .integer(Int64($0.rawValue)) } ?? .null
    object["statusName"] = decision.status.map { .string($0.name) } ?? .null
    object["confirmed"] = .bool(decision.isConfirmed)
    object["grantsAccess"] = .bool(decision.grantsAccess)
    object["accessHeldUntil"] = decision.accessHeldUntil.map { .integer($0.sinceEpoch) }
    if let lookUp = dossier.lookUps[subscription.key.originalTransactionID] {
      object["lookup"] = .object(lookUp.json)
    } else if decision.hasUnconfirmedWord, !dossier.canAskApple {
      // No source will confirm it, so clients must not wait for it.
      object["lookup"] = ["state": "noAPIKey"]
    }
    let shown = subscription.shown(at: now)
    if let current = shown.current(at: now) {
      object["productId"] = current.productID.map(JSONValue.string)
      object["expiresDate"] = current.expiresDate.map { .integer($0.sinceEpoch) }
    }
    object["renewal"] = shown.renewal.map { .object(describe($0)) }
    var claimed: JSONObject = [:]
    if let claim = decision.claim {
      claimed["status"] = .integer(Int64(claim.status.rawValue))
      claimed["statusName"] = .string(claim.status.name)
      claimed["productId"] = claim.period?.productID.map(JSONValue.string)
      claimed["expiresDate"] = claim.period?.expiresDate.map { .integer($0.sinceEpoch) }
    }
    claimed["renewal"] = claim(subscription.renewal, beside: shown.renewal).map(JSONValue.object)
    if !claimed.isEmpty { object["unconfirmed"] = .object(claimed) }
    return object
  }

  func describe<Field>(_ resolved: Resolved<Field>) -> JSONObject {
    var object = resolved.facts.json
    object["asOf"] = .integer(resolved.asOf.sinceEpoch)
    if showsProvenance {
      object["provenance"] = .object(
        JSONObject(
          resolved.facts.known.compactMap { field, _ in
            resolved.origins[field].map { (field.name, .object(describe($0))) }
          }))
    }
    return object
  }

  private func describe(_ origin: FieldOrigin) -> JSONObject {
    [
      "source": .string(origin.source.name), "asOf": .integer(origin.asOf.sinceEpoch),
      "rule": .string(origin.rule), "message": .string(Digest(bytes: origin.message)?.hex ?? ""),
      "inferred": .bool(origin.isInferred),
    ]
  }

  func describe(_ occurrence: MergedEvent, isSuperseded: Bool) -> JSONObject {
    let event = occurrence.event
    var object = event.json
    object["source"] = .string(event.source.name)
    object["rule"] = event.rule.map(JSONValue.string)
    if occurrence.isClaimed { object["unconfirmed"] = true }
    if isSuperseded { object["superseded"] = true }
    if occurrence.tellings.count > 1 { object["tellings"] = .integer(Int64(occurrence.tellings.count)) }
    return object
  }

  /// Describes a link to another customer that only an unsigned message makes: `with` is the customer's own ID.
  static func describe(_ link: UnconfirmedLink, of customers: [String: Set<CustomerNode>]) -> JSONObject {
    let isFirst = customers.values.contains { $0.contains(link.a) }
    let (member, other) = isFirst ? (link.a, link.b) : (link.b, link.a)
    return [
      "originalTransactionId": .string(other.id), "with": .string(member.id),
      "message": .string(Digest(bytes: link.message)?.hex ?? ""),
    ]
  }

  func describe(_ attribution: AccountAssociation) -> JSONObject {
    var object: JSONObject = [
      attribution.kind.name: .string(attribution.value),
      "originalTransactionId": .string(attribution.originalTransactionID),
      "firstAsOf": Self.said(attribution.firstAsOf), "lastAsOf": Self.said(attribution.lastAsOf),
    ]
    if attribution.line.text != "" { object["line"] = .string(attribution.line.text) }
    if attribution.isClaimed { object["unconfirmed"] = true }
    return object
  }

  /// Returns null for stored tables, which have no known date.
  private static func said(_ date: Timestamp) -> JSONValue {
    date == Timestamp(0) ? .null : .integer(date.sinceEpoch)
  }

  func describe(_ transfer: AccountTransfer) -> JSONObject {
    [
      "originalTransactionId": .string(transfer.originalTransactionID), "of": .string(transfer.kind.name),
      "from": .string(transfer.from), "to": .string(transfer.to), "date": .integer(transfer.date.sinceEpoch),
    ]
  }
}
