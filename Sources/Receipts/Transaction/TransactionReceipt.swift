public import Purchases
public import Time

/// The receipt of one transaction, as iOS 6 and before made it and StoreKit 1 still hands out.
///
/// What is signed is `purchase-info`; the keys around it, `environment` among them, anybody may have changed.
public struct TransactionReceipt: Hashable, Sendable {
  /// A key of `purchase-info` and its value, as they were signed.
  public struct SignedPair: Hashable, Sendable {
    public let key: String
    public let value: String
  }

  /// Everything that is signed, in the order in which it is signed; keys of unknown meaning and empty values included.
  public let signedPairs: [SignedPair]
  public let bundleID: String?
  public let applicationVersion: String?
  public let productID: String?
  public let transactionID: String?
  public let originalTransactionID: String?
  public let webOrderLineItemID: String?
  public let subscriptionGroupIdentifier: String?
  public let quantity: Int64?
  public let purchaseDate: Timestamp?
  public let originalPurchaseDate: Timestamp?
  public let expiresDate: Timestamp?
  public let cancellationDate: Timestamp?
  public let isTrialPeriod: Bool?
  public let isInIntroOfferPeriod: Bool?
  public let itemID: Int64?
  public let appItemID: Int64?
  public let versionExternalIdentifier: Int64?
  public let uniqueIdentifier: String?
  public let uniqueVendorIdentifier: String?
  /// What the unsigned part claims: nobody vouches for it, and it may have been removed.
  public let claimedEnvironment: Environment?
  /// Signed keys whose meaning nobody knows.
  public let unknownKeys: Int

  init(signed info: PropertyList, unsigned: PropertyList) {
    func text(_ key: String) -> String? { info.text(key).flatMap { $0 == "" ? nil : $0 } }
    func integer(_ key: String) -> Int64? { text(key).flatMap { Int64($0) } }
    func date(_ key: String) -> Timestamp? { integer(key).map { Timestamp($0) } }
    func flag(_ key: String) -> Bool? { text(key).flatMap { $0 == "true" ? true : $0 == "false" ? false : nil } }
    signedPairs = info.pairs
    bundleID = text("bid")
    applicationVersion = text("bvrs")
    productID = text("product-id")
    transactionID = text("transaction-id")
    originalTransactionID = text("original-transaction-id")
    webOrderLineItemID = ReceiptIdentity.usable(text("web-order-line-item-id"))
    subscriptionGroupIdentifier = text("subscription-group-identifier")
    quantity = integer("quantity")
    purchaseDate = date("purchase-date-ms")
    originalPurchaseDate = date("original-purchase-date-ms")
    expiresDate = date("expires-date")
    cancellationDate = date("cancellation-date-ms")
    isTrialPeriod = flag("is-trial-period")
    isInIntroOfferPeriod = flag("is-in-intro-offer-period")
    itemID = integer("item-id")
    appItemID = integer("app-item-id")
    versionExternalIdentifier = integer("version-external-identifier")
    uniqueIdentifier = text("unique-identifier")
    uniqueVendorIdentifier = text("unique-vendor-identifier")
    claimedEnvironment = unsigned.text("environment").flatMap { Environment(rawValue: $0) }
    unknownKeys = info.keys.subtracting(Self.known).count
  }

  /// By which Apple's history is asked: the original transaction's id, else its own; nil for "" and "0".
  public var originalIdentity: String? {
    ReceiptIdentity.usable(originalTransactionID) ?? ReceiptIdentity.usable(transactionID)
  }

  private static let known: Set<String> = [
    "bid", "bvrs", "product-id", "transaction-id", "original-transaction-id", "web-order-line-item-id",
    "subscription-group-identifier", "quantity", "purchase-date", "purchase-date-ms", "purchase-date-pst",
    "original-purchase-date", "original-purchase-date-ms", "original-purchase-date-pst", "expires-date",
    "expires-date-formatted", "expires-date-formatted-pst", "cancellation-date", "cancellation-date-ms",
    "cancellation-date-pst", "is-trial-period", "is-in-intro-offer-period", "item-id", "app-item-id",
    "version-external-identifier", "unique-identifier", "unique-vendor-identifier",
  ]
}
