package import JSON
import LegacyAnswers
import Purchases
package import Receipts
import Time

/// A pair as it is kept: with it both answers can be compared again by a later build.
extension ResponsePair {
  package var json: JSONObject {
    [
      "receiptData": .string(request.receiptData), "environment": .string(request.environment.rawValue),
      "excludeOldTransactions": .bool(request.excludesOldTransactions), "date": .integer(request.date.sinceEpoch),
      "theirs": .object(theirs), "ours": .object(ours), "account": .array(account.sorted().map(JSONValue.string)),
      "signedAt": .object(
        JSONObject(signedAt.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value.sinceEpoch)) })),
      "fresh": .bool(isFresh), "transactions": .array(facts.transactions.map { .object($0.facts.json) }),
      "renewals": .array(
        facts.renewals.map { renewal in
          .object([
            "facts": .object(renewal.facts.json), "statedAt": renewal.statedAt.map { .integer($0.sinceEpoch) } ?? .null,
            "askedToConsent": .bool(renewal.wasAskedToConsent),
          ])
        }),
    ]
  }

  /// The receipt of a pair that was kept.
  package static func receiptData(in json: JSONObject) -> String? { json["receiptData"]?.string }

  /// Reads back what `json` wrote; nil for anything else.
  ///
  /// - Parameter receipt: the one of `receiptData(in:)`.
  package init?(_ json: JSONObject, receipt: Receipt) {
    guard let data = Self.receiptData(in: json),
      let environment = json["environment"]?.string.flatMap(Environment.init(rawValue:)),
      let date = json["date"]?.milliseconds, let theirs = json["theirs"]?.object, let ours = json["ours"]?.object
    else { return nil }
    let transactions = (json["transactions"]?.array ?? []).compactMap(\.object).map {
      CustomerFacts.Transaction(Facts(json: $0))
    }
    let renewals = (json["renewals"]?.array ?? []).compactMap(\.object).map { renewal in
      CustomerFacts.Renewal(
        Facts(json: renewal["facts"]?.object ?? [:]), statedAt: renewal["statedAt"]?.milliseconds,
        wasAskedToConsent: renewal["askedToConsent"]?.bool ?? false)
    }
    let signedAt = (json["signedAt"]?.object ?? [:]).compactMap { member in
      member.value.milliseconds.map { (member.key, $0) }
    }
    self.init(
      request: Request(
        receipt: receipt, receiptData: data, environment: environment,
        excludesOldTransactions: json["excludeOldTransactions"]?.bool ?? false, date: date),
      theirs: theirs, ours: ours, facts: CustomerFacts(transactions: transactions, renewals: renewals),
      account: Set((json["account"]?.array ?? []).compactMap(\.string)),
      signedAt: Dictionary(signedAt) { first, _ in first }, isFresh: json["fresh"]?.bool ?? false)
  }

  /// The same with another answer of ours.
  package func with(ours: JSONObject) -> ResponsePair {
    ResponsePair(
      request: request, theirs: theirs, ours: ours, facts: facts, account: account, signedAt: signedAt,
      isFresh: isFresh)
  }
}
