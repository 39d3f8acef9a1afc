/// The probabilities of events without orders, in thousandths; 0 leaves an event to manual acts.
///
/// The events of a period are drawn once for each period of a subscription.
package struct BehaviorRates: Hashable, Sendable {
  // New customers.
  package var isFamily = 0
  package var hasAccountToken = 700
  /// StoreKit 1 clients send receipts, StoreKit 2 clients signed transactions.
  package var usesStoreKit1 = 400
  package var preorders = 0
  /// Has the app from an organization that bought it: Apple's Volume Purchase Program.
  package var hasVolumeLicence = 0

  // Purchases.
  package var subscribes = 0
  package var subscribesToSecondGroup = 0
  package var takesIntroductoryOffer = 0
  package var sharesWithFamily = 0
  /// In each 30 days.
  package var buysOnce = 0
  package var finishesConsumable = 0

  // In each period.
  package var turnsAutoRenewOff = 0
  package var upgrades = 0
  package var downgrades = 0
  package var crossgrades = 0
  package var redeemsOffer = 0
  package var asksForRefund = 0
  package var isExtended = 0
  package var restores = 0
  package var stopsSharing = 0
  package var paymentFails = 0
  /// Apple does not renew it, because the product is no longer for sale or for an unknown reason.
  package var isNotRenewedByApple = 0
  /// The share of customers that upgrade or downgrade.
  package var redeemsOfferWithChange = 0

  // Later decisions.
  package var turnsAutoRenewOnAgain = 0
  package var takesDowngradeBack = 0
  package var isRefunded = 0
  package var isRefundedInPart = 0
  package var refundIsReversed = 0
  package var paysWithinGrace = 0
  package var paysInRetry = 0
  package var comesBack = 0
  package var agreesToPrice = 0

  package init() {}

  /// Rates without customer events: Apple only ends and renews periods.
  package static let none = Self()

  /// Rates that show every event among a hundred customers in a year.
  package static let lively: Self = {
    var habits = Self()
    habits.isFamily = 150
    habits.preorders = 50
    habits.hasVolumeLicence = 40
    habits.subscribes = 800
    habits.subscribesToSecondGroup = 150
    habits.takesIntroductoryOffer = 600
    habits.sharesWithFamily = 700
    habits.buysOnce = 120
    habits.finishesConsumable = 900
    habits.turnsAutoRenewOff = 60
    habits.upgrades = 30
    habits.downgrades = 30
    habits.crossgrades = 15
    habits.redeemsOffer = 30
    habits.asksForRefund = 25
    habits.isExtended = 15
    habits.restores = 30
    habits.stopsSharing = 20
    habits.paymentFails = 60
    habits.isNotRenewedByApple = 25
    habits.redeemsOfferWithChange = 200
    habits.turnsAutoRenewOnAgain = 300
    habits.takesDowngradeBack = 300
    habits.isRefunded = 600
    habits.isRefundedInPart = 250
    habits.refundIsReversed = 150
    habits.paysWithinGrace = 500
    habits.paysInRetry = 500
    habits.comesBack = 350
    habits.agreesToPrice = 800
    return habits
  }()

  /// Rates of single customers that buy something every month, so that each one gets many notifications.
  package static let busy: Self = {
    var habits = Self.lively
    habits.isFamily = 0
    habits.subscribes = 900
    habits.buysOnce = 1_000
    habits.asksForRefund = 60
    habits.refundIsReversed = 400
    habits.isExtended = 40
    habits.comesBack = 800
    return habits
  }()
}
