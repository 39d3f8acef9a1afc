import JSON
import Ledger
import Purchases
import Runtime
import Service
import Signing
import Time

/// The explanation as JSON, complete unless a limit is given.
extension Explanation {
  func write(to terminal: Terminal) throws(Terminal.OutputError) {
    var writer = JSONObjectWriter(terminal)
    try writer.add([
      "app": .string(app), "id": .string(id), "environment": .string(dossier.environment.rawValue),
      "at": .integer(now.sinceEpoch), "legacyEntitlements": "deny",
      "holdAccessHours": .integer(Int64(dossier.hold.hours)), "canAskApple": .bool(dossier.canAskApple),
    ])
    try writer.add("customers", dossier.customers.sorted { $0.key < $1.key }) { customer in
      .array(limit.first(of: customer.value.sorted()).map { .string($0.id) })
    }
    try writer.add("unconfirmedLinks", claimedNeighbours) { .object($0.json) }
    try writer.add("subscriptions", subscriptions) { .object($0.json) }
    try writer.add("purchases", limit.newest(of: purchases)) { .object(json($0)) }
    try writer.add("appTransactions", appTransactions) { .object($0.json) }
    try writer.add("events", limit.newest(of: events)) { .object($0.json) }
    try writer.add("accounts", limit.newest(of: accounts, by: \.lastAsOf)) { .object($0.json) }
    try writer.add("transfers", limit.newest(of: transfers)) { .object($0.json) }
    try writer.add("messages", limit.newest(of: messages)) { .string(Digest(bytes: $0)?.hex ?? "") }
    if dossier.claimsAreCut { try writer.add(["unconfirmedTruncated": true]) }
    if isCut { try writer.add(["counts": .object(JSONObject(counts.map { ($0, .integer(Int64($1))) }))]) }
    try writer.end()
  }

  private func json(_ purchase: Purchase) -> JSONObject {
    let shown = purchase.shown
    var object: JSONObject = [
      "originalTransactionId": .string(shown.key.originalTransactionID), "line": .string(shown.key.line.text),
      "confirmed": .bool(shown.isConfirmed),
    ]
    if !shown.isSubscription {
      object["owner"] = owners[shown.key.originalTransactionID].map { .object(JSONObject(owner: $0.accounts)) }
    }
    object["fields"] = thing(purchase)?.json["fields"]
    return object
  }
}

extension ExplainedSubscription {
  fileprivate var json: JSONObject {
    [
      "originalTransactionId": .string(key.originalTransactionID),
      "status": JSONValue(decision?.status.map { Int64($0.rawValue) }), "statusName": JSONValue(decision?.status?.name),
      "confirmed": .bool(decision?.isConfirmed ?? false), "grantsAccess": .bool(grantsAccess),
      "accessHeldUntil": grantsAccess ? JSONValue(decision?.accessHeldUntil?.sinceEpoch) : .null,
      "owner": owner.map { .object(JSONObject(owner: $0.accounts)) } ?? .null,
      "lookup": lookUp.map { .object($0.json) } ?? .null, "lookupFailure": JSONValue(lookUp?.failure),
      "decidedBy": JSONValue(decision?.period?.key.line.text),
      "unconfirmed": claimed, "renewal": renewal.map { .object($0.json) } ?? .null,
    ]
  }
}

extension ExplainedSubscription {
  /// The status that unsigned sources claim; null if it is the same.
  private var claimed: JSONValue {
    guard let claim = decision?.claim else { return .null }
    return [
      "status": .integer(Int64(claim.status.rawValue)), "statusName": .string(claim.status.name),
      "decidedBy": JSONValue(claim.period?.key.line.text),
    ]
  }
}

extension UnconfirmedPurchase {
  fileprivate var json: JSONObject {
    [
      "originalTransactionId": .string(originalTransactionID), "with": JSONValue(member),
      "message": JSONValue(message.flatMap { Digest(bytes: $0)?.hex }),
    ]
  }
}

extension ExplainedThing {
  fileprivate var json: JSONObject {
    let named = fields.map { field -> (String, JSONValue) in
      let words = field.words.map { JSONValue.object($0.json) }
      let value = field.counting?.value ?? .null
      return (field.name, ["value": value, "rule": .string(field.rule), "words": .array(words)])
    }
    return ["fields": .object(JSONObject(named))]
  }
}

extension ExplainedThing.Word {
  fileprivate var json: JSONObject {
    [
      "value": value, "source": .string(source.name), "asOf": .integer(asOf.sinceEpoch),
      "inferred": .bool(isInferred), "verdict": .string(verdict.rawValue),
      "rows": .array(rows.map(JSONValue.string)), "message": .string(Digest(bytes: message)?.hex ?? ""),
    ]
  }
}

extension ExplainedEvent {
  fileprivate var json: JSONObject {
    let event = occurrence.event
    return [
      "notificationType": .string(event.notificationType), "subtype": JSONValue(event.subtype),
      "date": .integer(event.date.sinceEpoch), "originalTransactionId": JSONValue(event.originalTransactionID),
      "line": JSONValue(event.line?.text), "superseded": .bool(isSuperseded), "learned": .bool(occurrence.isLearned),
      "unconfirmed": .bool(occurrence.isClaimed),
      "rule": JSONValue(event.rule),
      "tellings": .array(
        occurrence.tellings.map { telling in
          [
            "source": .string(telling.source.name), "asOf": .integer(telling.rank.asOf.sinceEpoch),
            "notificationUUID": JSONValue(telling.notificationUUID), "rule": JSONValue(telling.rule),
            "message": .string(Digest(bytes: telling.message)?.hex ?? ""),
          ]
        }),
    ]
  }
}

extension AccountAssociation {
  fileprivate var json: JSONObject {
    [
      "kind": .string(kind.name), "value": .string(value), "originalTransactionId": .string(originalTransactionID),
      "line": .string(line.text), "firstAsOf": .integer(firstAsOf.sinceEpoch),
      "lastAsOf": .integer(lastAsOf.sinceEpoch), "message": .string(Digest(bytes: message)?.hex ?? ""),
      "unconfirmed": .bool(isClaimed),
    ]
  }
}

extension AccountTransfer {
  fileprivate var json: JSONObject {
    [
      "kind": .string(kind.name), "originalTransactionId": .string(originalTransactionID), "from": .string(from),
      "to": .string(to), "date": .integer(date.sinceEpoch),
    ]
  }
}
