import JSON
import Ledger
import Purchases
import Service
import Signing
import Time

/// An explanation as JSON: all of it, whatever the text leaves out.
extension Explanation {
  var json: JSONObject {
    [
      "app": .string(app), "id": .string(id), "environment": .string(dossier.environment.rawValue),
      "at": .integer(now.sinceEpoch), "legacyEntitlements": .string(dossier.legacyEntitlements.rawValue),
      "holdAccessHours": .integer(Int64(dossier.hold.hours)), "canAskApple": .bool(dossier.canAskApple),
      "customers": .array(
        dossier.customers.sorted { $0.key < $1.key }.map { _, members in
          .array(members.sorted().map { .string($0.id) })
        }),
      "subscriptions": .array(subscriptions.map { .object($0.json) }),
      "purchases": .array(purchases.map { .object(json($0)) }),
      "appTransactions": .array(appTransactions.map { .object($0.json) }),
      "events": .array(events.map { .object($0.json) }),
      "accounts": .array(Attribution.merged(dossier.attributions).map { .object($0.json) }),
      "transfers": .array(transfers.map { .object($0.json) }),
      "messages": .array(messages.map { .string(Digest(bytes: $0)?.hex ?? "") }),
    ]
  }

  private func json(_ purchase: Purchase) -> JSONObject {
    var object: JSONObject = [
      "originalTransactionId": .string(purchase.key.originalTransactionID), "line": .string(purchase.key.line.text),
      "confirmed": .bool(purchase.isConfirmed),
    ]
    object["fields"] = thing(purchase)?.json["fields"]
    return object
  }
}

extension ExplainedSubscription {
  fileprivate var json: JSONObject {
    [
      "originalTransactionId": .string(key.originalTransactionID),
      "status": JSONValue(standing?.status.map { Int64($0.rawValue) }), "statusName": JSONValue(standing?.status?.name),
      "confirmed": .bool(standing?.isConfirmed ?? false), "grantsAccess": .bool(standing?.grantsAccess ?? false),
      "accessHeldUntil": JSONValue(standing?.accessHeldUntil?.sinceEpoch),
      "lookUp": lookUp.map { .object($0.json) } ?? .null, "lookUpFailure": JSONValue(lookUp?.failure),
      "decidedBy": JSONValue(standing?.period?.key.line.text), "renewal": renewal.map { .object($0.json) } ?? .null,
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

extension Attribution {
  fileprivate var json: JSONObject {
    [
      "kind": .string(kind.name), "value": .string(value), "originalTransactionId": .string(originalTransactionID),
      "line": .string(line.text), "firstAsOf": .integer(firstAsOf.sinceEpoch),
      "lastAsOf": .integer(lastAsOf.sinceEpoch), "message": .string(Digest(bytes: message)?.hex ?? ""),
    ]
  }
}

extension Transfer {
  fileprivate var json: JSONObject {
    [
      "kind": .string(kind.name), "originalTransactionId": .string(originalTransactionID), "from": .string(from),
      "to": .string(to), "date": .integer(date.sinceEpoch),
    ]
  }
}
