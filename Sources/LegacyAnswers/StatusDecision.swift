package import JSON
package import Mappings
package import Purchases
package import Receipts

/// What was found out about a request to verifyReceipt, as far as it was looked at.
///
/// Values alone: who fills it has read the request, the receipt and the app's registration.
package struct RequestValidation: Sendable {
  package enum Secret: Sendable {
    case right, wrong, missing
    /// The app has none registered, so none can be compared.
    case noneRegistered
  }

  package var isJSON = true
  package var hasReceiptData = true
  /// Why the receipt is not believed; nil for a proven one.
  package var refusal: ReceiptError.Code?
  /// The environment of the address that was asked.
  package var asked: Environment
  /// The receipt's; nil where its type is none that is known.
  package var environment: Environment?
  /// Whether the receipt signs no environment: then `environment` is what V2 names its ids in, nil where it names none.
  package var signsNoEnvironment = false
  package var isRegistered = true
  /// Whether a subscription is in the receipt or would be in the answer: only then a secret is needed.
  package var holdsSubscription = false
  package var secret = Secret.right
  /// Whether Apple says that no account has any of the ids.
  package var isAccountGone = false

  package init(asked: Environment, environment: Environment?) {
    self.asked = asked
    self.environment = environment
  }
}

/// Decides which status a request gets, by the order of `answer-checks.tsv`.
package struct StatusDecision: Sendable {
  private let table: ResponseStatusTable

  package init(_ table: ResponseStatusTable = Vocabulary.embedded.answerChecks) { self.table = table }

  /// The row of the first check that finds something; nil when an answer is to be composed.
  package func decide(_ found: RequestValidation) -> ResponseStatusTable.Row? {
    for check in ResponseStatusTable.Check.allCases {
      if let finding = finding(check, found), let row = table[check, finding] { return row }
    }
    return nil
  }

  private func finding(_ check: ResponseStatusTable.Check, _ found: RequestValidation) -> String? {
    switch check {
    case .json: return !found.isJSON ? "notJSON" : found.hasReceiptData ? nil : "noReceiptData"
    // The table says which refusals are of the reading and which of the proof.
    case .receipt, .proof: return found.refusal?.rawValue
    case .environment:
      guard let environment = found.environment else { return found.signsNoEnvironment ? "notNamed" : "unknownType" }
      if environment == found.asked { return nil }
      return found.asked == .production ? "sandboxReceipt" : "productionReceipt"
    case .app: return found.isRegistered ? nil : "notRegistered"
    case .secret:
      guard found.holdsSubscription else { return nil }
      switch found.secret {
      case .right: return nil
      case .wrong: return "wrongSecret"
      case .missing: return "missingSecret"
      case .noneRegistered: return "noSecretRegistered"
      }
    case .data: return found.isAccountGone ? "accountNotFound" : nil
    }
  }

  /// The body of an answer that is a status without a receipt.
  ///
  /// 21002, 21003, 21007 and 21008 are the status alone: clients compare whole bodies. `is_retryable` is in 21100 to 21199.
  package static func body(_ status: Int64, in environment: Environment) -> JSONObject {
    var body = JSONObject()
    if ![21_000, 21_002, 21_003, 21_007, 21_008].contains(status) {
      body["environment"] = .string(environment.rawValue)
    }
    if (21_100...21_199).contains(status) { body["is_retryable"] = true }
    body["status"] = .integer(status)
    return body
  }
}
