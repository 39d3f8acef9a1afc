import HTTPServer
import JSON
import Signing
import Time

extension AppStoreState {
  /// The request's three values; Apple: requestBody.
  private struct Request {
    let receiptData: String
    let password: String?
    let excludesOldTransactions: Bool

    /// Returns `nil` if the body is not such a request.
    init?(_ body: [UInt8]) {
      var limits = JSONLimits.standard
      limits.bytes = SimulatedAppStore.bodyLimit
      guard let object = (try? JSONReader.read(body, limits: limits))?.object,
        let data = object["receipt-data"]?.string
      else { return nil }
      receiptData = data
      password = object["password"]?.string
      excludesOldTransactions = object["exclude-old-transactions"]?.bool ?? false
    }
  }

  /// - Parameters:
  ///   - environment: of the requested address.
  ///   - now: with milliseconds, as Apple's `request_date`.
  func verifyReceipt(
    _ request: HTTPRequest, _ environment: AppStoreEnvironment, _ pki: ReceiptPKI, at now: Timestamp
  ) -> JSONObject {
    guard request.method == "POST" else { return Self.verdict(21_000, environment) }
    guard let asked = Request(request.body) else { return Self.verdict(21_002, environment) }
    let sent: SentReceipt
    do throws(SentReceipt.Refusal) { sent = try SentReceipt(receiptData: asked.receiptData, signedBy: pki) } catch {
      return Self.verdict(error.rawValue, environment)
    }
    guard sent.environment == environment else {
      return Self.verdict(environment == .production ? 21_007 : 21_008, environment)
    }
    let place = SimulatedAppScope(bundleID: sent.bundleID, environment: environment)
    guard let app = app(place), let plan = world.apps.first(where: { $0.app.bundleID == place.bundleID }) else {
      return Self.verdict(21_003, environment)
    }
    let state = self.state(of: sent, app, plan.era)
    let sold = purchases(in: sent, state)
    let needsPassword = sold.contains { $0.transaction.product.kind == .autoRenewable }
    // For receipts without subscriptions Apple ignores it: Apple's archived "Receipt Validation Programming Guide".
    guard asked.password == plan.sharedSecret || !needsPassword else {
      return Self.verdict(21_004, environment)
    }
    do {
      switch sent.kind {
      case .transaction:
        guard let purchase = sold.first else { return Self.verdict(21_010, environment) }
        return try TransactionReceiptAnswer(about: purchase, of: state).object(signedBy: pki.transactionSigner)
      case .app:
        var receipt = state.receipt(with: sold)
        receipt.applicationVersion = sent.applicationVersion
        receipt.createdAt = sent.createdAt
        let answer = SimulatedVerifyReceiptResponse(
          about: receipt, of: state, requestedAt: now, excludingOldTransactions: asked.excludesOldTransactions)
        var object = try answer.object(signedBy: pki)
        if asked.password != plan.sharedSecret {
          // The customer's other data requires the secret.
          for key in ["latest_receipt_info", "latest_receipt", "pending_renewal_info"] { object[key] = nil }
        }
        return object
      }
    } catch {
      return Self.verdict(21_009, environment)
    }
  }

  /// Finds the receipt's customer; a receipt without purchases fits any customer.
  private func state(of sent: SentReceipt, _ app: SimulatedApp, _ era: V1Era) -> CustomerState {
    for purchase in sent.purchases {
      for id in [purchase.transactionID, purchase.originalTransactionID] {
        if let customer = world.customer(
          ofAnyTransactionID: id, app: app.bundleID, environment: app.environment)
        {
          return world.state(of: customer)
        }
      }
    }
    let nobody = Customer(name: "", storefront: .unitedStates, appTransactionID: "0")
    return CustomerState(
      id: CustomerID(household: 0), app: app, era: era, customer: nobody, usesStoreKit1: true, licence: nil,
      appTransaction: SimulatedAppTransaction(app: app, customer: nobody, downloadedAt: sent.createdAt),
      date: world.now, purchases: [], subscriptions: [])
  }

  /// Returns the sent purchases with their state and IDs at the time of the receipt.
  ///
  /// It omits none, not even consumables that the app finished since.
  private func purchases(in sent: SentReceipt, _ state: CustomerState) -> [SimulatedReceipt.Purchase] {
    // Receipts have whole seconds: every event within the second counts.
    let then =
      state.purchases.isEmpty ? state : world.state(of: state.id, at: sent.signedAt + .milliseconds(999))
    return sent.purchases.compactMap { row in
      func isIt(_ purchase: WorldPurchase) -> Bool {
        purchase.transaction.transactionID == row.transactionID || purchase.legacyTransactionID == row.transactionID
          || purchase.restoredTransactionIDs.contains(row.transactionID)
      }
      guard let now = state.purchases.first(where: isIt) else { return nil }
      var purchase = SimulatedReceipt.Purchase(then.purchases.first(where: isIt) ?? now)
      purchase.transactionID = row.transactionID
      return purchase
    }
  }

  static func verdict(_ status: Int64, _ environment: AppStoreEnvironment) -> JSONObject {
    var answer = PayloadMembers()
    if ![21_000, 21_002, 21_003, 21_007, 21_008].contains(status) {
      answer.add("environment", environment == .production ? "Production" : "Sandbox")
    }
    if (21_100...21_199).contains(status) { answer.add("is_retryable", true) }
    if status == 21_009 {
      answer.add("exception", "com.apple.jingle.commercelogic.inappcache.MZInAppCacheAccessException")
    } else if status >= 21_100 {
      answer.add("exception", "com.apple.jingle.commercelogic.inapplocker.MZInAppLockerAccessException")
    }
    answer.add("status", status)
    return answer.object
  }
}

extension SimulatedAppStore {
  /// Responds with HTTP status 200, regardless of errors in the receipt.
  func answerVerifyReceipt(_ request: HTTPRequest, _ environment: AppStoreEnvironment) async -> HTTPResponse {
    let now = clock.now()
    let (answer, faults) = live.withLock { state -> (HTTPResponse, [Fault]) in
      let faults = state.faults.strike(FaultPlan.Call(.verifyReceipt), at: now)
      if let other = FaultyResponse.replacement(faults, at: now) { return (other, faults) }
      if let status = faults.first(where: { $0.kind == .status })?.value {
        return (Self.json(AppStoreState.verdict(status, environment)), faults)
      }
      let signer = ResponseSigner(identity.chains, faults, at: state.world.now)
      let answer = state.verifyReceipt(request, environment, identity.receiptPKI, at: signer.date)
      return (Self.json(signer.extended(answer)), faults)
    }
    return await FaultyResponse.arrival(of: answer, faults)
  }
}
