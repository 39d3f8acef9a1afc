package import JSON
package import Purchases
package import Time

/// What a ledger says, held against what the simulated App Store knows.
///
/// `differences` names every purchase that was lost or made up and every fact that is other than it is. Nothing is
/// forgiven: who knows of a difference that must be compares without it.
package struct TruthComparison: Sendable {
  package enum Difference: Hashable, Sendable, CustomStringConvertible {
    /// It was bought, and the ledger does not know it.
    case lost(String)
    /// The ledger knows it, and nobody bought it.
    case madeUp(String)
    case other(String, field: String, truth: String, ledger: String)

    /// `purchase ORIGINAL/LINE` or `subscription ORIGINAL`.
    package var subject: String {
      switch self {
      case .lost(let subject), .madeUp(let subject), .other(let subject, _, _, _): subject
      }
    }

    /// The field that is other; nil when all of it is.
    package var field: String? { if case .other(_, let field, _, _) = self { field } else { nil } }

    /// What is true of the field; nil when nothing is, or when all of it is other.
    package var truth: String? {
      if case .other(_, _, let truth, _) = self, truth != TruthComparison.nothing { truth } else { nil }
    }

    package var description: String {
      switch self {
      case .lost(let subject): "\(subject) is lost"
      case .madeUp(let subject): "\(subject) is made up"
      case .other(let subject, let field, let truth, let ledger):
        "\(subject): \(field) is \(truth), the ledger says \(ledger)"
      }
    }
  }

  package private(set) var differences: [Difference] = []
  /// How many purchases and subscriptions were found and compared.
  package private(set) var compared = 0

  /// - Parameters:
  ///   - truth: lines of `truth.jsonl`, of one app and environment.
  ///   - beyond: what the ledger may know besides, when `truth` is what V1 alone can tell; else the same.
  ///   - now: the time of both, at which statuses are compared.
  package init(
    _ purchases: [Purchase], _ subscriptions: [Subscription], with truth: [JSONObject], beyond: [JSONObject]? = nil,
    at now: Timestamp
  ) {
    let required = Self.bySubject(truth)
    let permitted = beyond.map(Self.bySubject) ?? required
    var seen: Set<String> = []
    for purchase in purchases {
      let subject = "purchase \(purchase.key.originalTransactionID)/\(purchase.key.line.text)"
      seen.insert(subject)
      guard permitted[subject] != nil else {
        differences.append(.madeUp(subject))
        continue
      }
      compare(
        subject, purchase.facts.json, required[subject]?["transaction"]?.object,
        permitted[subject]?["transaction"]?.object)
    }
    for subscription in subscriptions {
      let subject = "subscription \(subscription.key.originalTransactionID)"
      seen.insert(subject)
      guard let line = permitted[subject] else {
        differences.append(.madeUp(subject))
        continue
      }
      compare(
        subject, subscription.renewal?.facts.json ?? JSONObject(), required[subject]?["renewal"]?.object,
        line["renewal"]?.object)
      let status = subscription.status(at: now).map { JSONValue.integer(Int64($0.rawValue)) }
      check(subject, "status", truth: (required[subject] ?? line)["status"], ledger: status)
    }
    for subject in required.keys.sorted() where !seen.contains(subject) { differences.append(.lost(subject)) }
  }

  private mutating func compare(
    _ subject: String, _ ledger: JSONObject, _ truth: JSONObject?, _ beyond: JSONObject?
  ) {
    compared += 1
    let truth = truth ?? JSONObject()
    for fact in truth where !Self.ofTheEnvelope.contains(fact.key) {
      check(subject, fact.key, truth: fact.value, ledger: ledger[fact.key])
    }
    for fact in ledger where truth[fact.key] == nil && fact.key != Self.markOfTheInferred {
      check(subject, fact.key, truth: beyond?[fact.key], ledger: fact.value)
    }
  }

  private mutating func check(_ subject: String, _ field: String, truth: JSONValue?, ledger: JSONValue?) {
    func text(_ value: JSONValue?) -> String {
      value.map { String(decoding: $0.encoded(), as: UTF8.self) } ?? Self.nothing
    }
    guard truth != ledger else { return }
    differences.append(.other(subject, field: field, truth: text(truth), ledger: text(ledger)))
  }

  private static let nothing = "not told"

  /// What a purchase's key has, or what is of the payload and not of the purchase.
  private static let ofTheEnvelope: Set<String> = ["bundleId", "environment", "signedDate"]

  /// Facts that follow from others must be true as well; that they were inferred is no fact.
  private static let markOfTheInferred = "inferred"

  private static func bySubject(_ lines: [JSONObject]) -> [String: JSONObject] {
    var subjects: [String: JSONObject] = [:]
    for line in lines {
      switch line["kind"]?.string {
      case "purchase":
        let transaction = line["transaction"]?.object ?? JSONObject()
        let original = transaction["originalTransactionId"]?.string ?? ""
        subjects["purchase \(original)/\(transaction["webOrderLineItemId"]?.string ?? "")"] = line
      case "subscription": subjects["subscription \(line["originalTransactionId"]?.string ?? "")"] = line
      default: continue
      }
    }
    return subjects
  }
}
