public import JSON
public import Time

/// What was bought of an app that keeps its own catalogue; stands in a transaction.
///
/// Apple: AdvancedCommerceTransactionInfo.
public struct AdvancedCommerceTransactionInfo: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var descriptors: AdvancedCommerceDescriptors? { structure("descriptors") }
  public var estimatedTax: Int64? { integer("estimatedTax") }
  public var items: [AdvancedCommerceTransactionItem]? { structures("items") }
  public var period: String? { text("period") }
  public var requestReferenceId: String? { text("requestReferenceId") }
  public var taxCode: String? { text("taxCode") }
  public var taxExclusivePrice: Int64? { integer("taxExclusivePrice") }
  public var taxRate: String? { text("taxRate") }

  public static let schema = Schema([
    "descriptors": .structure(AdvancedCommerceDescriptors.schema),
    "estimatedTax": .integer,
    "items": .structures(AdvancedCommerceTransactionItem.schema),
    "period": .word(Words.advancedCommercePeriod),
    "requestReferenceId": .text,
    "taxCode": .text,
    "taxExclusivePrice": .integer,
    "taxRate": .text,
  ])
}

/// One of the app's own items in a transaction, with its refunds.
///
/// Apple: AdvancedCommerceTransactionItem.
public struct AdvancedCommerceTransactionItem: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var SKU: String? { text("SKU") }
  public var description: String? { text("description") }
  public var displayName: String? { text("displayName") }
  public var offer: AdvancedCommerceOffer? { structure("offer") }
  public var price: Int64? { integer("price") }
  public var refunds: [AdvancedCommerceRefund]? { structures("refunds") }
  public var revocationDate: Milliseconds? { date("revocationDate") }

  public static let schema = Schema([
    "SKU": .text,
    "description": .text,
    "displayName": .text,
    "offer": .structure(AdvancedCommerceOffer.schema),
    "price": .integer,
    "refunds": .structures(AdvancedCommerceRefund.schema),
    "revocationDate": .date,
  ])
}

/// What of an app's own catalogue renews next; stands in a renewal.
///
/// Apple: AdvancedCommerceRenewalInfo.
public struct AdvancedCommerceRenewalInfo: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var consistencyToken: String? { text("consistencyToken") }
  public var descriptors: AdvancedCommerceDescriptors? { structure("descriptors") }
  public var items: [AdvancedCommerceRenewalItem]? { structures("items") }
  public var period: String? { text("period") }
  public var requestReferenceId: String? { text("requestReferenceId") }
  public var taxCode: String? { text("taxCode") }

  public static let schema = Schema([
    "consistencyToken": .text,
    "descriptors": .structure(AdvancedCommerceDescriptors.schema),
    "items": .structures(AdvancedCommerceRenewalItem.schema),
    "period": .word(Words.advancedCommercePeriod),
    "requestReferenceId": .text,
    "taxCode": .text,
  ])
}

/// One of the app's own items in a renewal.
///
/// Apple: AdvancedCommerceRenewalItem.
public struct AdvancedCommerceRenewalItem: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var SKU: String? { text("SKU") }
  public var description: String? { text("description") }
  public var displayName: String? { text("displayName") }
  public var offer: AdvancedCommerceOffer? { structure("offer") }
  public var price: Int64? { integer("price") }
  public var priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo? { structure("priceIncreaseInfo") }

  public static let schema = Schema([
    "SKU": .text,
    "description": .text,
    "displayName": .text,
    "offer": .structure(AdvancedCommerceOffer.schema),
    "price": .integer,
    "priceIncreaseInfo": .structure(AdvancedCommercePriceIncreaseInfo.schema),
  ])
}

/// What the customer reads of the purchase as a whole.
///
/// Apple: advancedcommerceapi/descriptors.
public struct AdvancedCommerceDescriptors: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var description: String? { text("description") }
  public var displayName: String? { text("displayName") }

  public static let schema = Schema([
    "description": .text,
    "displayName": .text,
  ])
}

/// The offer under which an item of the app's own is sold.
///
/// Apple: advancedcommerceapi/offer.
public struct AdvancedCommerceOffer: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var period: String? { text("period") }
  public var periodCount: Int64? { integer("periodCount") }
  /// In thousandths of the unit.
  public var price: Int64? { integer("price") }
  public var reason: String? { text("reason") }

  public static let schema = Schema([
    "period": .word(Words.advancedCommerceOfferPeriod),
    "periodCount": .integer,
    "price": .integer,
    "reason": .word(Words.advancedCommerceOfferReason),
  ])
}

/// A price increase of an item and whether the customer agreed.
///
/// Apple: AdvancedCommercePriceIncreaseInfo.
public struct AdvancedCommercePriceIncreaseInfo: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var dependentSKUs: [String]? { texts("dependentSKUs") }
  public var price: Int64? { integer("price") }
  public var status: String? { text("status") }

  public static let schema = Schema([
    "dependentSKUs": .texts,
    "price": .integer,
    "status": .word(Words.advancedCommercePriceIncreaseInfoStatus),
  ])
}

/// A refund of an item, whole or in part.
///
/// Apple: AdvancedCommerceRefund.
public struct AdvancedCommerceRefund: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var refundAmount: Int64? { integer("refundAmount") }
  public var refundDate: Milliseconds? { date("refundDate") }
  public var refundReason: String? { text("refundReason") }
  public var refundType: String? { text("refundType") }

  public static let schema = Schema([
    "refundAmount": .integer,
    "refundDate": .date,
    "refundReason": .word(Words.advancedCommerceRefundReason),
    "refundType": .word(Words.advancedCommerceRefundType),
  ])
}
