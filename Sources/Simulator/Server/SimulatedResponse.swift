package import JSON
package import Signing
package import Time

/// Responses of the App Store Server API: unsigned objects with signed payloads inside.
package struct SimulatedResponse: Sendable {
  private let app: SimulatedApp
  private let signer: ResponseSigner

  /// Creates responses about `app`, with all payloads signed at `date`.
  package init(of app: SimulatedApp, at date: Timestamp, signer: PayloadSigner) {
    self.init(of: app, ResponseSigner(signer, at: date))
  }

  init(of app: SimulatedApp, _ signer: ResponseSigner) {
    self.app = app
    self.signer = signer
  }

  package struct Status: Hashable, Sendable {
    package var status: Int64
    package var transaction: SimulatedTransaction
    package var renewal: SimulatedRenewal?

    package init(_ status: Int64, _ transaction: SimulatedTransaction, _ renewal: SimulatedRenewal?) {
      self.status = status
      self.transaction = transaction
      self.renewal = renewal
    }
  }

  /// Get All Subscription Statuses: the groups in the order of their IDs.
  package func statuses(_ statuses: [Status]) throws(CertificateError) -> JSONObject {
    var groups: [JSONValue] = []
    for group in Set(statuses.compactMap(\.transaction.product.subscriptionGroupID)).sorted() {
      var last: [JSONValue] = []
      for status in statuses where status.transaction.product.subscriptionGroupID == group {
        last.append(.object(try item(status)))
      }
      groups.append(["subscriptionGroupIdentifier": .string(group), "lastTransactions": .array(last)])
    }
    var answer = head()
    answer.add("data", .array(groups))
    return answer.object
  }

  package func history(
    _ transactions: [SimulatedTransaction], revision: String = "1_0", hasMore: Bool = false
  ) throws(CertificateError) -> JSONObject {
    var signed: [JSONValue] = []
    for transaction in transactions { signed.append(try signer.text(transaction.payload(signedAt: signer.date))) }
    var answer = PayloadMembers()
    answer.add("revision", revision)
    answer.add("hasMore", hasMore)
    answer.add("bundleId", app.bundleID)
    answer.add("appAppleId", app.appAppleID)
    answer.add("environment", app.environment.rawValue)
    answer.add("signedTransactions", .array(signed))
    return answer.object
  }

  package func transaction(_ transaction: SimulatedTransaction) throws(CertificateError) -> JSONObject {
    ["signedTransactionInfo": try signer.text(transaction.payload(signedAt: signer.date))]
  }

  private func item(_ status: Status) throws(CertificateError) -> JSONObject {
    var item = PayloadMembers()
    item.add("originalTransactionId", status.transaction.originalTransactionID)
    item.add("status", status.status)
    item.add("signedTransactionInfo", try signer.text(status.transaction.payload(signedAt: signer.date)))
    if let renewal = status.renewal {
      item.add("signedRenewalInfo", try signer.text(renewal.payload(signedAt: signer.date)))
    }
    return item.object
  }

  private func head() -> PayloadMembers {
    var head = PayloadMembers()
    head.add("environment", app.environment.rawValue)
    head.add("appAppleId", app.appAppleID)
    head.add("bundleId", app.bundleID)
    return head
  }
}

extension WorldSubscription {
  package var answer: SimulatedResponse.Status { SimulatedResponse.Status(status, transaction, renewal) }
}
