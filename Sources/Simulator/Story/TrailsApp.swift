import Time

/// The story's second app: maps, with a yearly subscription that a family may share, and maps to buy.
struct TrailsApp {
  let app = SimulatedApp(name: "Trailhead Maps", bundleID: "com.example.trailhead", appAppleID: 1_493_870_562)
  let yearly = Product.subscription(
    "trailhead.explorer.yearly", group: "20771109", every: .years(1), price: 29_990)
  let monthly = Product.subscription(
    "trailhead.explorer.monthly", group: "20771109", every: .months(1), price: 3_990)
  let tiles = Product(.consumable, id: "trailhead.tiles.50", price: 1_990)

  let seed: UInt64
  let start: Milliseconds

  init(seed: UInt64, start: Milliseconds) {
    self.seed = seed
    self.start = start
  }

  /// Ids of this app's lives are those of 11 to 19.
  func ids(_ life: Int) -> IdentifierSource { IdentifierSource(environment: app.environment, seed: seed, life: life) }

  func scenes() -> [Story.Scene] { emil() + fay() + gus() + hana() + apple() }

  /// A price that rises, and a year that is made longer.
  private func emil() -> [Story.Scene] {
    var ids = ids(11)
    let emil = Customer(
      name: "Emil", storefront: .germany, appTransactionID: ids.appTransactionID(), appAccountToken: ids.uuid())
    var life = SubscriptionLife(of: yearly, by: emil, in: app, from: start + .hours(30), ids: ids)
    return [
      Story.Scene("Emil subscribes for a year and shares it with his family", life.begin()),
      Story.Scene(
        "Emil is told that the next year costs more", life.announcePriceIncrease(to: 34_990, at: start + .days(40))),
      Story.Scene("Emil agrees to the new price", life.acceptPriceIncrease(at: start + .days(42))),
      Story.Scene("Emil's year is 14 days longer after an outage", life.extend(by: .days(14), at: start + .days(50))),
    ]
  }

  /// Access through somebody else's purchase, which ends with the sharing.
  private func fay() -> [Story.Scene] {
    var ids = ids(12)
    let fay = Customer(name: "Fay", storefront: .germany, appTransactionID: ids.appTransactionID())
    var life = SubscriptionLife(
      of: yearly, by: fay, in: app, from: start + .hours(31), ownership: .familyShared, ids: ids)
    return [
      Story.Scene("Fay, Emil's sister, has access through him", life.begin()),
      Story.Scene("Emil stops sharing: Fay's access is revoked", life.revokeSharing(at: start + .days(60))),
    ]
  }

  /// Consumables: one refunded, one not.
  private func gus() -> [Story.Scene] {
    var ids = ids(13)
    let gus = Customer(
      name: "Gus", storefront: .japan, appTransactionID: ids.appTransactionID(), appAccountToken: ids.uuid())
    var first = OneTimePurchaseLife(of: tiles, by: gus, in: app, at: start + .days(4), ids: &ids)
    var second = OneTimePurchaseLife(of: tiles, by: gus, in: app, at: start + .days(5), ids: &ids)
    return [
      Story.Scene("Gus buys 50 map tiles", first.buy()),
      Story.Scene("Gus buys 50 more", second.buy()),
      Story.Scene("Gus asks Apple for his money back", second.requestRefund(at: start + .days(6))),
      Story.Scene("Apple refunds his second purchase", second.refund(at: start + .days(7))),
      Story.Scene(
        "Gus asks about the first one too", first.requestRefund(reason: "FULFILLMENT_ISSUE", at: start + .days(8))),
      Story.Scene("Apple declines", first.declineRefund(at: start + .days(9))),
    ]
  }

  /// An offer for a month, and an end by choice.
  private func hana() -> [Story.Scene] {
    var ids = ids(14)
    let hana = Customer(name: "Hana", storefront: .japan, appTransactionID: ids.appTransactionID())
    var life = SubscriptionLife(of: monthly, by: hana, in: app, from: start + .days(8), ids: ids)
    let offer = Offer(.promotional, identifier: "summer-half", .payAsYouGo, for: .months(1), price: 1_990)
    return [
      Story.Scene("Hana subscribes by the month", life.begin()),
      Story.Scene("Hana redeems an offer: half price for the next month", life.redeem(offer, at: start + .days(18))),
      Story.Scene("Hana renews at half price", life.renew()),
      Story.Scene("Hana turns auto-renewal off", life.setAutoRenew(false, at: start + .days(50))),
      Story.Scene("Hana's month ends", life.expire()),
    ]
  }

  /// Messages about no purchase.
  private func apple() -> [Story.Scene] {
    var ids = ids(15)
    let ida = Customer(name: "Ida", storefront: .unitedStates, appTransactionID: ids.appTransactionID())
    let download = SimulatedAppTransaction(app: app, customer: ida, downloadedAt: start)
    var notices = AppNotices(of: app, ids: ids)
    return [
      Story.Scene("Trailhead asks Apple for a test notification", notices.test(at: start + .minutes(5))),
      Story.Scene(
        "Apple has extended the year of 1,204 customers; 3 could not be",
        notices.renewalExtensionSummary(of: yearly, succeeded: 1_204, failed: 3, at: start + .days(50) + .hours(1))),
      Story.Scene(
        "A token for purchases outside of the App Store is made",
        notices.externalPurchaseToken(at: start + .days(55))),
      Story.Scene(
        "Ida's parents no longer agree that she uses the app",
        notices.rescindConsent(download, at: start + .days(58))),
    ]
  }
}
