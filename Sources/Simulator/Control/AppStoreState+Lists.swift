import JSON
import Signing
import Time

extension AppStoreState {
  var summary: JSONObject {
    let apps = world.apps.map { plan -> JSONValue in
      ["bundleId": .string(plan.app.bundleID), "products": .array(plan.products.map { .string($0.id) })]
    }
    return [
      "now": .integer(world.now.sinceEpoch), "start": .integer(world.start.sinceEpoch),
      "seed": .integer(Int64(bitPattern: world.seed)), "customers": .integer(Int64(world.customerCount)),
      "notifications": .integer(Int64(mailroom.shipments.count)), "waiting": .integer(Int64(mailroom.waiting)),
      "apps": .array(apps),
    ]
  }

  var faultList: JSONObject {
    let list = faults.entries.map { entry -> JSONValue in
      var object = entry.rule.json
      object["number"] = .integer(Int64(entry.number))
      object["matched"] = .integer(Int64(entry.matched))
      object["struck"] = .integer(Int64(entry.struck))
      return .object(object)
    }
    return ["faults": .array(list)]
  }

  var destinationList: JSONObject {
    let list = destinations.sorted {
      ($0.key.bundleID, $0.key.environment.rawValue) < ($1.key.bundleID, $1.key.environment.rawValue)
    }
    .map { place, destination -> JSONValue in
      var object: JSONObject = [
        "bundleId": .string(place.bundleID), "environment": .string(place.environment.rawValue),
      ]
      for member in destination.json { object[member.key] = member.value }
      return .object(object)
    }
    return ["destinations": .array(list)]
  }

  /// Returns the notifications, sent or not, earliest first.
  func notificationList(state: String?, skip: Int, limit: Int) -> JSONObject {
    let found = mailroom.shipments.lazy.filter { state == nil || $0.state.word == state }
    let list = found.dropFirst(skip).prefix(limit).map { shipment -> JSONValue in
      var object = PayloadMembers()
      object.add("bundleId", shipment.place.bundleID)
      object.add("environment", shipment.place.environment.rawValue)
      object.add("notificationType", shipment.title?.type)
      object.add("subtype", shipment.title?.subtype)
      object.add("notificationUUID", draft(of: shipment)?.notificationUUID)
      object.add("customer", shipment.customer.map { "\($0)" })
      object.add("due", shipment.due)
      object.add("state", shipment.state.word)
      object.add("version", shipment.version?.rawValue)
      object.add("attempts", .array(shipment.attempts.map { .object($0.json) }))
      return .object(object.object)
    }
    return ["notifications": .array(Array(list)), "count": .integer(Int64(found.count { _ in true }))]
  }

  var consumptionList: JSONObject {
    let list = consumption.map { report -> JSONValue in
      [
        "bundleId": .string(report.place.bundleID), "environment": .string(report.place.environment.rawValue),
        "transactionId": .string(report.transactionID), "date": .integer(report.date.sinceEpoch),
        "request": .object(report.body),
      ]
    }
    return ["consumption": .array(list)]
  }
}

extension CustomerState {
  /// Apple's data about the customer, unsigned, for people and tests.
  var json: JSONObject {
    var object = PayloadMembers()
    object.add("customer", "\(id)")
    object.add("bundleId", app.bundleID)
    object.add("environment", app.environment.rawValue)
    object.add("storefront", customer.storefront.code)
    object.add("usesStoreKit1", usesStoreKit1)
    object.add("appTransactionId", customer.appTransactionID)
    object.add("appAccountToken", customer.appAccountToken)
    object.add("transactions", .array(purchases.map { .object($0.json) }))
    object.add(
      "subscriptions",
      .array(
        subscriptions.map { subscription in
          [
            "status": .integer(subscription.status),
            "originalTransactionId": .string(subscription.originalTransactionID),
            "transactionId": .string(subscription.transaction.transactionID),
            "renewal": .object(subscription.renewal.payload(signedAt: nil)),
          ]
        }))
    return object.object
  }
}

extension WorldPurchase {
  fileprivate var json: JSONObject {
    var object = transaction.payload(signedAt: nil)
    object["orderId"] = .string(orderID)
    object["isFinished"] = .bool(isFinished)
    object["legacyTransactionId"] = .string(legacyTransactionID)
    return object
  }
}
