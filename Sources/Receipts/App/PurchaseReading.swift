import Time

extension ReceiptPurchase {
  mutating func note(
    _ type: Int64, _ value: Range<Int>, of bytes: Span<UInt8>, _ reader: inout DERReader
  ) -> Noted {
    func text() -> Read<String> { AttributeValue.text(value, of: bytes, &reader) }
    func integer() -> Read<Int64> { AttributeValue.integer(value, of: bytes, &reader) }
    func date() -> Read<Timestamp> { AttributeValue.date(value, of: bytes, &reader) }
    switch type {
    case 1701: return integer().keep(in: &quantity)
    case 1702: return text().keep(in: &productID)
    case 1703: return text().keep(in: &transactionID)
    case 1704: return date().keep(in: &purchaseDate)
    case 1705: return text().keep(in: &originalTransactionID)
    case 1706: return date().keep(in: &originalPurchaseDate)
    case 1707: return integer().map(ReceiptProductType.init).keep(in: &productType)
    case 1708: return date().keep(in: &expiresDate)
    case 1710: return integer().keep(in: &itemID)
    case 1711: return integer().nonZero.keep(in: &webOrderLineItemID)
    case 1712: return date().keep(in: &cancellationDate)
    case 1713: return integer().map { $0 != 0 }.keep(in: &isTrialPeriod)
    case 1719: return integer().map { $0 != 0 }.keep(in: &isInIntroOfferPeriod)
    case 1720: return integer().keep(in: &cancellationReason)
    case 1721: return text().keep(in: &promotionalOfferID)
    case 1722: return integer().map(ReceiptOwnership.init).keep(in: &ownership)
    default: return .unknown
    }
  }
}
