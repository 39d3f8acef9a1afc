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

  func subscriptions(_ purchases: [Purchase], _ renewals: [RenewalStatement]) -> [Subscription] {
    let intentions = Dictionary(grouping: renewals, by: \.key)
    let periods = Dictionary(grouping: purchases.filter(\.isSubscription), by: \.key.subscription)
    return periods.sorted { $0.key.originalTransactionID < $1.key.originalTransactionID }.compactMap { key, purchases in
      Subscription(
        key: key, purchases: purchases,
        renewal: Folded(intentions[key] ?? [], rules: vocabulary.renewals.rules))
    }
  }

  /// A purchase as the app's policy has it shown, with what unsigned sources claim beside it.
  func describe(_ purchase: Purchase, under legacy: LegacyEntitlements) -> JSONObject {
    let shown = purchase.shown(under: legacy)
    var object = describe(shown.folded)
    object["line"] = .string(shown.key.line.text)
    object["confirmed"] = .bool(shown.isConfirmed)
    object["claimed"] = claim(purchase.folded, beside: shown.folded).map(JSONValue.object)
    return object
  }

  /// The fields of `whole` that `shown` has otherwise or not at all, each with who says so; nil when there are none.
  private func claim<Field>(_ whole: Folded<Field>?, beside shown: Folded<Field>?) -> JSONObject? {
    guard let whole else { return nil }
    let fields = whole.facts.known.compactMap { field, value -> (String, JSONValue)? in
      guard shown?.facts[field] != value, let provenance = whole.provenance[field] else { return nil }
      var object: JSONObject = ["value": value]
      for member in describe(provenance) { object[member.key] = member.value }
      return (field.name, .object(object))
    }
    return fields.isEmpty ? nil : JSONObject(fields)
  }

  func describe(_ subscription: Subscription, in dossier: Dossier) -> JSONObject {
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
    } else if standing.hasUnconfirmedWord, !dossier.canAskApple {
      // Nobody will confirm it, so it is not to be waited for.
      object["lookUp"] = ["state": "noAPIKey"]
    }
    let shown = subscription.shown(under: dossier.legacyEntitlements, at: now)
    if let current = shown.current(at: now) {
      object["productId"] = current.productID.map(JSONValue.string)
      object["expiresDate"] = current.expiresDate.map { .integer($0.sinceEpoch) }
    }
    object["renewal"] = shown.renewal.map { .object(describe($0)) }
    var claimed: JSONObject = [:]
    if let claim = standing.claim {
      claimed["status"] = .integer(Int64(claim.status.rawValue))
      claimed["statusName"] = .string(claim.status.name)
      claimed["productId"] = claim.period?.productID.map(JSONValue.string)
      claimed["expiresDate"] = claim.period?.expiresDate.map { .integer($0.sinceEpoch) }
    }
    claimed["renewal"] = claim(subscription.renewal, beside: shown.renewal).map(JSONValue.object)
    if !claimed.isEmpty { object["claimed"] = .object(claimed) }
    return object
  }

  func describe<Field>(_ folded: Folded<Field>) -> JSONObject {
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

  func describe(_ occurrence: Occurrence, isSuperseded: Bool) -> JSONObject {
    let event = occurrence.event
    var object = event.json
    object["source"] = .string(event.source.name)
    object["rule"] = event.rule.map(JSONValue.string)
    if occurrence.isClaimed { object["claimed"] = true }
    if isSuperseded { object["superseded"] = true }
    if occurrence.tellings.count > 1 { object["tellings"] = .integer(Int64(occurrence.tellings.count)) }
    return object
  }

  /// A link to another customer that only an unsigned message makes: `with` is the customer's own id.
  static func describe(_ link: ClaimedLink, of customers: [String: Set<CustomerNode>]) -> JSONObject {
    let isFirst = customers.values.contains { $0.contains(link.a) }
    let (member, other) = isFirst ? (link.a, link.b) : (link.b, link.a)
    return [
      "originalTransactionId": .string(other.id), "with": .string(member.id),
      "message": .string(Digest(bytes: link.message)?.hex ?? ""),
    ]
  }

  func describe(_ attribution: Attribution) -> JSONObject {
    var object: JSONObject = [
      attribution.kind.name: .string(attribution.value),
      "originalTransactionId": .string(attribution.originalTransactionID),
      "firstAsOf": Self.said(attribution.firstAsOf), "lastAsOf": Self.said(attribution.lastAsOf),
    ]
    if attribution.line.text != "" { object["line"] = .string(attribution.line.text) }
    if attribution.isClaimed { object["claimed"] = true }
    return object
  }

  /// Null where a stored table says it: nobody knows since when.
  private static func said(_ date: Milliseconds) -> JSONValue {
    date == Milliseconds(0) ? .null : .integer(date.sinceEpoch)
  }

  func describe(_ transfer: Transfer) -> JSONObject {
    [
      "originalTransactionId": .string(transfer.originalTransactionID), "of": .string(transfer.kind.name),
      "from": .string(transfer.from), "to": .string(transfer.to), "date": .integer(transfer.date.sinceEpoch),
    ]
  }
}
