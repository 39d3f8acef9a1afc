import HTTPServer
import JSON
import Signing
import Time

extension AppStoreState {
  private func answers(_ call: APICall) throws(APIErrorCode) -> SimulatedResponse {
    guard let app = app(call.place) else { throw .appNotFound }
    return SimulatedResponse(of: app, call.signer)
  }

  /// Get Transaction History, version 2 and the older one, which omits finished consumables.
  mutating func history(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    let query = try HistoryQuery(call.request.head)
    let customer: CustomerID
    do throws(APIErrorCode) {
      customer = try self.customer(call, call.parameters[0])
    } catch {
      // An ID of another app gives an empty history, not an error.
      guard error == .transactionIdNotFound, isElsewhere(call.parameters[0], call.place) else { throw error }
      return call.answer(empty(call))
    }
    if query.revision == nil, historiesBegun[customer, default: []].count < Self.limit {
      historiesBegun[customer, default: []].append(call.receivedAt)
    }
    let rows = world.transactions(of: customer).filter { purchase in
      let isGone = purchase.isFinished && purchase.transaction.product.kind == .consumable
      return query.matches(purchase.transaction) && !(isGone && call.operation == .getTransactionHistoryV1)
    }
    let page = HistoryPage(rows.map(Self.row), after: query.revision, isDescending: query.isDescending)
    do {
      return call.answer(
        try answers(call).history(
          page.rows, revision: page.revision?.description ?? "0_0", hasMore: page.hasMore))
    } catch {
      throw .generalInternal
    }
  }

  private static func row(_ purchase: WorldPurchase) -> (revision: HistoryRevision, row: SimulatedTransaction) {
    (HistoryRevision(purchase.modifiedAt, purchase.transaction.transactionID), purchase.transaction)
  }

  /// Whether the ID belongs to a customer of another app of this world in the same environment.
  private func isElsewhere(_ id: String, _ place: SimulatedAppScope) -> Bool {
    world.apps.contains { other in
      other.app.bundleID != place.bundleID
        && world.customer(ofAnyTransactionID: id, app: other.app.bundleID, environment: place.environment) != nil
    }
  }

  private func empty(_ call: APICall) -> JSONObject {
    var members = PayloadMembers()
    members.add("revision", "0_0")
    members.add("hasMore", false)
    members.add("bundleId", call.place.bundleID)
    members.add("appAppleId", app(call.place)?.appAppleID)
    members.add("environment", call.place.environment.rawValue)
    members.add("signedTransactions", .array([]))
    return members.object
  }

  func transactionInfo(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    let (_, purchase) = try purchase(call, call.parameters[0])
    return call.answer([
      "signedTransactionInfo": try call.signed(purchase.transaction.payload(signedAt: call.signer.date))
    ])
  }

  func statuses(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    var wanted: Set<Int64> = []
    for (name, value) in call.request.query where name == "status" {
      guard let status = Int64(value), (1...5).contains(status) else { throw .invalidStatus }
      wanted.insert(status)
    }
    let customer = try customer(call, call.parameters[0])
    let found = world.subscriptions(of: customer).filter { wanted.isEmpty || wanted.contains($0.status) }
    do { return call.answer(try answers(call).statuses(found.map(\.answer))) } catch { throw .generalInternal }
  }

  func refundHistory(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    let query = try HistoryQuery(call.request.head)
    let customer = try customer(call, call.parameters[0])
    let page = HistoryPage(world.refunds(of: customer).map(Self.row), after: query.revision, isDescending: false)
    var signed: [JSONValue] = []
    for transaction in page.rows { signed.append(try call.signed(transaction.payload(signedAt: call.signer.date))) }
    return call.answer([
      "signedTransactions": .array(signed), "revision": .string(page.revision?.description ?? "0_0"),
      "hasMore": .bool(page.hasMore),
    ])
  }

  func appTransactionInfo(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    let appTransaction = world.appTransaction(of: try customer(call, call.parameters[0]))
    return call.answer([
      "signedAppTransactionInfo": try call.signed(appTransaction.payload(signedAt: call.signer.date))
    ])
  }

  /// Looks up an order; an unknown order is a status, not an error.
  func lookUpOrder(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    let (bundleID, environment) = (call.place.bundleID, call.place.environment)
    guard let order = world.order(call.parameters[0], app: bundleID, environment: environment) else {
      return call.answer(["status": 1])
    }
    let payload = order.purchase.transaction.payload(signedAt: call.signer.date)
    return call.answer(["status": 0, "signedTransactions": .array([try call.signed(payload)])])
  }
}
