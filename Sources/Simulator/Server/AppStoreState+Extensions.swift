import HTTPServer
import JSON
import Signing
import Time

/// A request to extend all subscriptions to a product, and its progress.
struct MassExtension: Sendable {
  struct Key: Hashable, Sendable {
    let place: SimulatedAppScope
    let productID: String
    let request: String
  }

  let completed: Timestamp
  let succeeded: Int64
  let failed: Int64
}

/// Extend a Subscription Renewal Date, and for all active subscribers.
extension AppStoreState {
  private struct Request {
    let days: Int
    let identifier: String

    init(_ body: JSONObject) throws(APIErrorCode) {
      guard let days = body["extendByDays"]?.integer, (1...90).contains(days) else { throw .invalidExtendByDays }
      guard let reason = body["extendReasonCode"]?.integer, (0...3).contains(reason) else {
        throw .invalidExtendReasonCode
      }
      guard let identifier = body["requestIdentifier"]?.string, (1...128).contains(identifier.utf8.count) else {
        throw .invalidRequestIdentifier
      }
      self.days = Int(days)
      self.identifier = identifier
    }
  }

  /// Apple: up to two extensions in 365 days.
  private static let yearlyLimit = 2

  mutating func extend(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    let id = call.parameters[0]
    guard Self.isID(id) else { throw .invalidOriginalTransactionId }
    let request = try Request(try call.object())
    guard
      let customer = world.customer(
        ofAnyTransactionID: id, app: call.place.bundleID, environment: call.place.environment),
      let subscription = world.subscriptions(of: customer).first(where: { $0.originalTransactionID == id })
    else { throw .originalTransactionIdNotFound }
    try extend(subscription, of: customer, by: request.days)
    guard let extended = world.subscriptions(of: customer).first(where: { $0.originalTransactionID == id }) else {
      throw .generalInternal
    }
    var answer = PayloadMembers()
    answer.add("originalTransactionId", id)
    answer.add("webOrderLineItemId", extended.transaction.webOrderLineItemID)
    answer.add("success", true)
    answer.add("effectiveDate", extended.transaction.expiresDate)
    return call.answer(answer.object)
  }

  private mutating func extend(
    _ subscription: WorldSubscription, of customer: CustomerID, by days: Int
  ) throws(APIErrorCode) {
    let id = subscription.originalTransactionID
    guard subscription.transaction.ownership == .purchased else { throw .familySharedSubscriptionExtensionIneligible }
    guard subscription.status == 1 else { throw .subscriptionExtensionIneligible }
    let recent = extensions[id, default: []].filter { $0 > world.now - .days(365) }
    guard recent.count < Self.yearlyLimit else { throw .subscriptionMaxExtension }
    // The world refuses a subscription whose state does not allow an extension.
    do { try world.act(.extend(days: days, subscription: id), on: customer) } catch {
      throw .subscriptionExtensionIneligible
    }
    extensions[id] = recent + [world.now]
    collect()
  }

  /// Extends immediately, where Apple takes time.
  mutating func extendAll(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    let body = try call.object()
    let request = try Request(body)
    guard let app = app(call.place) else { throw .appNotFound }
    let products = world.apps.first { $0.app.bundleID == call.place.bundleID }?.products ?? []
    guard let product = body["productId"]?.string, products.contains(where: { $0.id == product && $0.period != nil })
    else { throw .invalidProductId }
    let storefronts = body["storefrontCountryCodes"]?.array
    if storefronts?.isEmpty == true { throw .invalidEmptyStorefrontCountryCodeList }
    let codes = storefronts.map { Set($0.compactMap(\.string)) }
    if let codes, codes.count != storefronts?.count || !codes.allSatisfy(Self.isCountry) {
      throw .invalidStorefrontCountryCode
    }
    var (succeeded, failed): (Int64, Int64) = (0, 0)
    for customer in Array(world.customers(of: call.place.bundleID)) {
      let state = world.state(of: customer)
      guard state.app.environment == call.place.environment, codes?.contains(state.customer.storefront.code) ?? true
      else { continue }
      for subscription in state.subscriptions
      where subscription.status == 1 && subscription.transaction.product.id == product {
        do throws(APIErrorCode) {
          try extend(subscription, of: customer, by: request.days)
          succeeded += 1
        } catch {
          failed += 1
        }
      }
    }
    let key = MassExtension.Key(place: call.place, productID: product, request: request.identifier)
    massExtensions[key] = MassExtension(completed: world.now, succeeded: succeeded, failed: failed)
    let summary = NotificationDraft.extensionSummary(
      of: product, request: request.identifier, storefronts: codes.map(Array.init), succeeded: succeeded,
      failed: failed, of: app, at: world.now, uuid: uuid())
    mailroom.accept(QueuedNotification(summary))
    return call.answer(["requestIdentifier": .string(request.identifier)])
  }

  private static func isCountry(_ code: String) -> Bool {
    code.utf8.count == 3 && code.utf8.allSatisfy { (0x41...0x5A).contains($0) }
  }

  func extensionStatus(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    let key = MassExtension.Key(place: call.place, productID: call.parameters[0], request: call.parameters[1])
    guard let done = massExtensions[key] else { throw .statusRequestNotFound }
    return call.answer([
      "requestIdentifier": .string(key.request), "complete": true, "completeDate": .integer(done.completed.sinceEpoch),
      "succeededCount": .integer(done.succeeded), "failedCount": .integer(done.failed),
    ])
  }
}
