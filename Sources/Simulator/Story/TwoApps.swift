import Signing
package import Time

enum TwoApps {
  static let inkwell: AppPlan = .sample("com.example.inkwell", appAppleID: 1_580_234_117)

  /// Maps, with a year that a family may share; without billing grace.
  static let trailhead: AppPlan = {
    var plan = AppPlan.sample("com.example.trailhead", appAppleID: 1_493_870_562)
    plan.hasGrace = false
    plan.products.append(
      Product.subscription(year, group: "20771109", every: .years(1), price: 29_990)
        .at(level: 1, isFamilyShareable: true))
    return plan
  }()

  /// An app that belongs to no developer here.
  static let stranger = AppPlan.sample("com.example.stranger", appAppleID: 1_600_000_001)

  private static let year = "explorer.yearly"

  static var cast: [Script.Role] {
    let (notes, maps) = (inkwell.app.bundleID, trailhead.app.bundleID)
    return [
      // A trial that converts, with an account of the app; at the end a paying customer.
      Script.Role(
        name: "Anna", app: notes, storefront: .germany, hasAccountToken: true,
        steps: [
          .init(.hours(9), .buy(product: "plus.yearly", offer: "introductory")),
          .init(.days(20), .setAutoRenew(false)), .init(.days(22), .setAutoRenew(true)),
        ]),
      // A payment that fails and recovers within grace; later a reversed refund, and an end.
      Script.Role(
        name: "Ben", app: notes,
        steps: [
          .init(.days(1), .buy(product: "plus.monthly")), .init(.days(2), .setPayment(works: false)),
          .init(.days(36), .setPayment(works: true)),
          .init(.days(45)) { .refund(transaction: $0.last ?? "", isForAnIssue: true) },
          .init(.days(47)) { .reverseRefund(transaction: $0.last ?? "") },
        ]),
      // An immediate upgrade, a downgrade at the next renewal; at the end a subscriber.
      Script.Role(
        name: "Carla", app: notes, storefront: .brazil, hasAccountToken: true,
        steps: [
          .init(.days(100), .buy(product: "plus.monthly")), .init(.days(110), .buy(product: "pro.monthly")),
          .init(.days(128), .buy(product: "plus.monthly")),
        ]),
      // A payment that fails permanently, and a return; at the end a subscriber.
      Script.Role(
        name: "Dev", app: maps, storefront: .unitedKingdom,
        steps: [
          .init(.days(3), .buy(product: "pro.monthly")), .init(.days(4), .setPayment(works: false)),
          .init(.days(139), .setPayment(works: true)), .init(.days(140), .buy(product: "pro.monthly")),
        ]),
      // A price increase, and a year that is extended and shared for a while.
      Script.Role(
        name: "Emil", app: maps, storefront: .germany, hasAccountToken: true,
        steps: [
          .init(.hours(30), .buy(product: year)), .init(.hours(32), .share(true)),
          .init(.days(40), .announcePrice(34_990, needsConsent: true)), .init(.days(42), .agreeToPrice()),
          .init(.days(50), .extend(days: 14)), .init(.days(60), .share(false)),
        ]),
      // Access through another person's purchase, which ends with the sharing.
      Script.Role(name: "Fay", app: maps, storefront: .germany, relative: "Emil", steps: [.init(.hours(31), nil)]),
      // Consumables: one refunded, one not.
      Script.Role(
        name: "Gus", app: maps, storefront: .japan, hasAccountToken: true,
        steps: [
          .init(.days(4), .buy(product: "coins.100")), .init(.days(5), .buy(product: "coins.100")),
          .init(.days(6)) { .requestRefund(transaction: $0[1], reason: "UNINTENDED_PURCHASE") },
          .init(.days(7)) { .refund(transaction: $0[1]) },
          .init(.days(8)) { .requestRefund(transaction: $0[0], reason: "FULFILLMENT_ISSUE") },
          .init(.days(9)) { .declineRefund(transaction: $0[0]) },
        ]),
      // An offer for some months, and an end by choice.
      Script.Role(
        name: "Hana", app: maps, storefront: .japan,
        steps: [
          .init(.days(8), .buy(product: "plus.monthly")),
          .init(.days(18), .buy(product: "plus.monthly", offer: "stay.3")),
          .init(.days(50), .setAutoRenew(false)),
        ]),
    ]
  }

  /// Customers with only wrong messages, and one that only downloads an app.
  static var extras: [Script.Role] {
    let apps = [inkwell, inkwell, stranger, trailhead, inkwell]
    let wrong = zip(["forged", "tampered", "stranger", "contradicting", "legacy"], apps).enumerated().map { day, role in
      Script.Role(
        name: role.0, app: role.1.app.bundleID,
        steps: [.init(.days(Int64(day) + 5), .buy(product: "pro.monthly"))])
    }
    return wrong + [Script.Role(name: "Ida", app: trailhead.app.bundleID, steps: [.init(.hours(1), nil)])]
  }

  static func notices(from start: Timestamp, to ida: SimulatedAppTransaction, uuid: () -> String) -> [Story.Scene] {
    let app = trailhead.app
    return [
      Story.Scene(
        "Trailhead asks Apple for a test notification", .test(of: app, at: start + .minutes(5), uuid: uuid())),
      Story.Scene(
        "Apple has extended the year of 1,204 customers; 3 could not be",
        .extensionSummary(
          of: year, request: uuid(), storefronts: [Storefront.unitedStates.code], succeeded: 1_204, failed: 3, of: app,
          at: start + .days(50) + .hours(1), uuid: uuid())),
      Story.Scene(
        "A token for purchases outside of the App Store is made",
        .externalPurchaseToken(uuid(), of: app, at: start + .days(55), uuid: uuid())),
      Story.Scene(
        "Ida's parents no longer agree that she uses the app",
        .rescindConsent(ida, at: start + .days(58), uuid: uuid())),
    ]
  }
}

extension Story {
  /// Creates a story of two apps and nine customers over five months, with all events of purchases, six wrong messages,
  /// a duplicate and a late one.
  ///
  /// 160 days after `start`, every customer's status is one that a message reported. Certificates must be valid until
  /// then.
  package static func twoApps(seed: UInt64, start: Timestamp) -> Story {
    var world = AppStoreWorld(
      plan: WorldPlan(apps: [TwoApps.inkwell, TwoApps.trailhead, TwoApps.stranger]), seed: seed, start: start)
    let script = Script(roles: TwoApps.cast + TwoApps.extras)
    guard let (people, told) = try? script.play(in: &world, for: .days(160)), let ida = people["Ida"] else {
      preconditionFailure("the world refuses what the story has people do")
    }
    var random = SplitMix64(seed: seed ^ 0x73_746F_7279)
    var captions = Captions()
    var scenes = TwoApps.cast.flatMap { role in
      told.filter { $0.customer == people[role.name] }.compactMap { notification in
        notification.v2.map { Scene(captions.next(of: notification, about: role.name), $0) }
      }
    }
    scenes += TwoApps.notices(from: world.start, to: world.appTransaction(of: ida)) { random.uuid() }
    scenes.sort { $0.signedDate < $1.signedDate }
    func first(_ name: String) -> WorldNotification {
      guard let notification = told.first(where: { $0.customer == people[name] }) else {
        preconditionFailure("no event of \(name)")
      }
      return notification
    }
    let wrong = WrongMessages(
      forged: first("forged"), tampered: first("tampered"), stranger: first("stranger"),
      contradicting: first("contradicting"), legacy: first("legacy"), other: TwoApps.inkwell.app)
    return Story(apps: [TwoApps.inkwell.app, TwoApps.trailhead.app], scenes: wrong.mixed(into: scenes))
  }
}

extension Story.Scene {
  init(_ caption: String, _ draft: NotificationDraft) { self.init(caption, .notification(draft)) }

  /// The signing date; other messages have no date.
  var signedDate: Timestamp { draft?.signedDate ?? Timestamp(0) }
}
