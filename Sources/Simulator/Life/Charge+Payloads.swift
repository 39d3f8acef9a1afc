import Signing
import Time

extension SimulatedTransaction {
  init(_ charge: Charge, of product: Product, by customer: Customer, in app: SimulatedApp) {
    self.init(
      id: String(charge.id), of: product, by: customer, in: app, at: charge.purchaseDate,
      line: charge.webOrderLineItemID == 0 ? nil : String(charge.webOrderLineItemID))
    originalTransactionID = String(charge.originalID)
    originalPurchaseDate = charge.originalPurchaseDate
    expiresDate = charge.expiresDate
    quantity = Int64(charge.quantity)
    ownership = charge.isShared ? .familyShared : .purchased
    reason = charge.isRenewal ? .renewal : .purchase
    offer = charge.offer < 0 ? nil : product.offers[Int(charge.offer)]
    commitment = charge.commitment
    revocation = charge.revocation
    isUpgraded = charge.isUpgraded
    price = charge.price
  }
}

extension SimulatedRenewal {
  init(_ intention: RenewalIntent, after transaction: SimulatedTransaction, next product: Product) {
    self.init(after: transaction)
    nextProduct = product
    renewsCommitment = intention.willRenew
    let isRunning = intention.phase == .active || intention.phase == .retry
    willRenew = intention.willRenew || (isRunning && commitment?.isOpen ?? false)
    price = intention.nextOffer < 0 ? intention.price : nil
    expirationIntent = intention.expirationIntent
    isInBillingRetryPeriod = intention.isInBillingRetryPeriod
    gracePeriodExpiresDate = intention.gracePeriodExpiresDate
    priceIncreaseStatus = intention.priceIncreaseStatus
    offer = intention.nextOffer < 0 ? nil : product.offers[Int(intention.nextOffer)]
    recentSubscriptionStartDate = intention.recentSubscriptionStartDate
    renewalDate = intention.renewalDate
  }
}
