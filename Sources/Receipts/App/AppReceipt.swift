public import Purchases
public import Time

/// The receipt of an app with its purchases, as iOS 7 and later keep it.
///
/// Every attribute whose meaning is known; nil is what was left out, is empty, or could not be read. Sources: Apple,
/// Receipt Fields (archive); the rest as seen in receipts beside Apple's answers to them.
public struct AppReceipt: Hashable, Sendable {
  /// Attribute 0: `Production`, `ProductionSandbox`, `Xcode`, with `VPP` in between for volume purchases.
  public internal(set) var receiptType: String?
  /// Attribute 1; 0 in the sandbox.
  public internal(set) var appItemID: Int64?
  public internal(set) var bundleID: String?
  /// Attribute 2 as it is encoded: what the device's hash is made over.
  public internal(set) var bundleIDBytes: [UInt8] = []
  public internal(set) var applicationVersion: String?
  /// Attribute 4: goes into the device's hash.
  public internal(set) var opaqueValue: [UInt8] = []
  /// Attribute 5: SHA-1 of the device's identifier, `opaqueValue` and `bundleIDBytes`.
  public internal(set) var deviceHash: [UInt8] = []
  /// Attribute 8: when the receipt was made, in Production; empty in the sandbox.
  public internal(set) var transactionDate: Timestamp?
  /// Attribute 9, by the name others gave it.
  public internal(set) var toolVersion: Int64?
  public internal(set) var ageRating: String?
  /// Attribute 11; 0 in the sandbox.
  public internal(set) var developerID: Int64?
  /// Attribute 12: the date at which the signature counts.
  public internal(set) var createdAt: Timestamp?
  /// Attribute 13: 180602 is 18.6.2.
  public internal(set) var operatingSystemVersion: Int64?
  /// Attribute 14.
  public internal(set) var deviceClass: Int64?
  /// Attribute 15; may exceed 2^53.
  public internal(set) var downloadID: Int64?
  public internal(set) var versionExternalIdentifier: Int64?
  /// Attribute 17, in the order of the receipt, which means nothing.
  public internal(set) var purchases: [ReceiptPurchase] = []
  /// Attribute 18: when the customer first got the app.
  public internal(set) var originalPurchaseDate: Timestamp?
  public internal(set) var originalApplicationVersion: String?
  /// Attribute 21: when a volume purchase ends; the year 4001 with Xcode.
  public internal(set) var expirationDate: Timestamp?
  /// Attribute 23, of volume purchases.
  public internal(set) var organizationName: String?
  /// Attribute 25: 2 for macOS, 3 for iOS.
  public internal(set) var platform: Int64?
  /// Attribute 32.
  public internal(set) var preorderDate: Timestamp?
  /// Attributes whose meaning nobody knows, of the receipt and of its purchases.
  public internal(set) var unknownAttributes = 0
  /// Attributes of a known meaning that hold something else than they should.
  public internal(set) var unreadableAttributes = 0

  init() {}

  /// Where it is from, by its type; nil for one that this build does not know.
  public var environment: Environment? {
    switch receiptType {
    case "Production", "ProductionVPP": .production
    case "ProductionSandbox", "ProductionVPPSandbox", "Sandbox": .sandbox
    case "Xcode": .xcode
    case .some, nil: nil
    }
  }
}

/// One purchase of an app receipt.
public struct ReceiptPurchase: Hashable, Sendable {
  public internal(set) var quantity: Int64?
  public internal(set) var productID: String?
  /// Attribute 1703; every restore makes a new one, and Xcode writes "0".
  public internal(set) var transactionID: String?
  /// Attribute 1705 as written.
  public internal(set) var originalTransactionID: String?
  public internal(set) var purchaseDate: Timestamp?
  public internal(set) var originalPurchaseDate: Timestamp?
  /// Attribute 1707.
  public internal(set) var productType: ReceiptProductType?
  public internal(set) var expiresDate: Timestamp?
  /// Attribute 1710: the product's Apple id.
  public internal(set) var itemID: Int64?
  /// Attribute 1711; nil for 0, which is none.
  public internal(set) var webOrderLineItemID: Int64?
  /// Attribute 1712: taken back, or replaced by an upgrade.
  public internal(set) var cancellationDate: Timestamp?
  public internal(set) var isTrialPeriod: Bool?
  public internal(set) var isInIntroOfferPeriod: Bool?
  public internal(set) var cancellationReason: Int64?
  public internal(set) var promotionalOfferID: String?
  /// Attribute 1722; no receipt up to November 2020 has it.
  public internal(set) var ownership: ReceiptOwnership?

  init() {}

  /// Notes a refund that the receipt does not know.
  package mutating func noteCancellation(at date: Timestamp?, reason: Int64?) {
    cancellationDate = date
    cancellationReason = reason
  }

  /// By which Apple's history is asked: attribute 1705, else 1703; nil for "" and "0".
  public var originalIdentity: String? {
    ReceiptIdentity.usable(originalTransactionID) ?? ReceiptIdentity.usable(transactionID)
  }
}

/// What kind of product was bought: attribute 1707.
public struct ReceiptProductType: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int64

  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static let nonConsumable = Self(rawValue: 0)
  public static let consumable = Self(rawValue: 1)
  public static let nonRenewing = Self(rawValue: 2)
  public static let autoRenewable = Self(rawValue: 3)
  /// Discontinued.
  public static let freeSubscription = Self(rawValue: 4)

  /// V2's `type`; nil where V2 has no word for it.
  public var name: String? {
    switch self {
    case .nonConsumable: "Non-Consumable"
    case .consumable: "Consumable"
    case .nonRenewing: "Non-Renewing Subscription"
    case .autoRenewable: "Auto-Renewable Subscription"
    default: nil
    }
  }
}

/// How the customer came to have a purchase: attribute 1722.
public struct ReceiptOwnership: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int64

  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static let purchased = Self(rawValue: 0)
  public static let familyShared = Self(rawValue: 1)

  /// The value of `in_app_ownership_type` and of V2's `inAppOwnershipType`; nil for a number that has no known meaning.
  public var name: String? {
    switch self {
    case .purchased: "PURCHASED"
    case .familyShared: "FAMILY_SHARED"
    default: nil
    }
  }
}

/// Ids as receipts write them.
enum ReceiptIdentity {
  /// Nil for what is no id: "" where there is none, and Xcode's "0".
  static func usable(_ id: String?) -> String? { id == "" || id == "0" ? nil : id }
}
