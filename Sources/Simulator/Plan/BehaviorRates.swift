/// How likely things happen by themselves, each in a thousand cases; 0 leaves it to who orders single acts.
///
/// What may happen in a period is drawn once for each period of a subscription.
package struct BehaviorRates: Hashable, Sendable {
  // Who comes.
  package var isFamily = 0
  package var hasAccountToken = 700
  /// Clients of StoreKit 1 send receipts, those of StoreKit 2 signed transactions.
  package var usesStoreKit1 = 400
  /// Has ordered the app before it was for sale.
  package var preorders = 0
  /// Has the app from an organisation that bought it: Apple's Volume Purchase Program.
  package var hasVolumeLicence = 0

  // What they buy.
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
  /// Apple does not renew it: the product is not for sale any more, or it does not say why.
  package var isNotRenewedByApple = 0
  /// Of who upgrades or downgrades.
  package var redeemsOfferWithChange = 0

  // What follows from it.
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

  /// Nothing happens by itself but what Apple does: periods end and renew.
  package static let none = Self()

  /// Everything happens often enough to be seen among a hundred customers in a year.
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

  /// People who live alone and buy something every month: everybody is told of again and again.
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
