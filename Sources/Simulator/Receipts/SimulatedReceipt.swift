package import Signing
package import Time

/// The app receipt of one customer, with all of Apple's attributes; tests change parts to make wrong ones.
package struct SimulatedReceipt: Sendable {
  package var bundleID: String
  package var applicationVersion = "214"
  package var originalApplicationVersion = "1.0"
  /// Attribute 0.
  package var receiptType: String
  /// Attribute 8 in Production, empty elsewhere.
  package var createdAt: Timestamp
  /// Attribute 12, the signing date; `nil` means the creation date.
  package var signedAt: Timestamp?
  package var originalPurchaseDate: Timestamp
  /// Attributes 1, 15 and 16; 0 outside of Production.
  package var appAppleID: Int64 = 0
  package var downloadID: Int64 = 0
  package var versionExternalIdentifier: Int64 = 0
  /// Attribute 32, the date of a preorder.
  package var preorderDate: Timestamp?
  /// Attributes 21 and 23, of apps that organizations bought; see `apply`.
  package private(set) var expirationDate: Timestamp?
  package private(set) var organisation: String?
  package var purchases: [Purchase]
  /// Whether purchases have attribute 1722, since the end of 2020.
  package var hasOwnership = true
  /// Attributes unknown to every reader: their number and DER value.
  package var otherAttributes: [(type: Int64, value: [UInt8])] = []

  package struct Purchase: Sendable {
    package var transaction: SimulatedTransaction
    /// Attribute 1703, which each restore changes.
    package var transactionID: String
    /// Attribute 1706, the time of the last restore, if any.
    package var originalPurchaseDate: Timestamp

    package init(_ transaction: SimulatedTransaction) {
      self.transaction = transaction
      transactionID = transaction.transactionID
      originalPurchaseDate = transaction.originalPurchaseDate
    }

    /// Creates V1's data of a purchase, after any restores.
    ///
    /// The refund of a consumable or of an upgraded purchase is omitted.
    package init(_ purchase: WorldPurchase) {
      transaction = purchase.transaction
      if transaction.product.kind == .consumable || transaction.isUpgraded { transaction.revocation = nil }
      transactionID = purchase.legacyTransactionID
      originalPurchaseDate = purchase.legacyOriginalPurchaseDate
    }
  }

  package init(of app: SimulatedApp, purchases: [SimulatedTransaction], createdAt: Timestamp) {
    bundleID = app.bundleID
    receiptType =
      switch app.environment {
      case .production: "Production"
      case .sandbox: "ProductionSandbox"
      case .xcode, .localTesting: "Xcode"
      }
    self.createdAt = createdAt
    if app.environment == .production {
      appAppleID = app.appAppleID
      versionExternalIdentifier = app.versionExternalIdentifier
    }
    originalPurchaseDate = purchases.map(\.originalPurchaseDate).min() ?? createdAt
    self.purchases = purchases.map(Purchase.init)
  }

  /// Makes it the receipt of an app that an organization bought.
  package mutating func apply(_ licence: VolumeLicence) {
    receiptType = receiptType == "Production" ? "ProductionVPP" : "ProductionVPPSandbox"
    expirationDate = licence.expirationDate
    organisation = licence.organisation
  }

  /// Returns the message in base64, as clients send it.
  package func encoded(
    signedBy pki: ReceiptPKI, hash: SignatureHash = .sha256
  ) throws(CertificateError) -> [UInt8] {
    Base64.standard.encode(try SignedReceiptMessage(content: content, hash: hash).signed(by: pki))
  }

  /// The signed content: a set of attributes, sorted by length as DER requires.
  package var content: [UInt8] {
    let isSandbox = receiptType != "Production" && receiptType != "ProductionVPP"
    let opaque = Digest.sha256(Array(bundleID.utf8)).bytes
    var attributes = [
      Self.attribute(0, DERWriter.utf8(receiptType)),
      Self.attribute(1, DERWriter.integer(appAppleID)),
      Self.attribute(2, DERWriter.utf8(bundleID)), Self.attribute(3, DERWriter.utf8(applicationVersion)),
      Self.attribute(4, Array(opaque.prefix(16)), version: 2), Self.attribute(5, Array(opaque.suffix(20))),
      Self.attribute(6, opaque + opaque), Self.attribute(7, opaque + opaque.prefix(17)),
      Self.attribute(8, DERWriter.ia5(isSandbox ? "" : createdAt.rfc3339)),
      Self.attribute(9, DERWriter.integer(1_345_531_957)), Self.attribute(10, DERWriter.ia5("4+")),
      Self.attribute(11, DERWriter.integer(isSandbox ? 0 : 987_654)),
      Self.attribute(12, DERWriter.ia5((signedAt ?? createdAt).rfc3339)),
      Self.attribute(13, DERWriter.integer(180_602)),
      Self.attribute(14, DERWriter.integer(207)), Self.attribute(15, DERWriter.integer(downloadID)),
      Self.attribute(16, DERWriter.integer(versionExternalIdentifier)),
      Self.attribute(18, DERWriter.ia5(originalPurchaseDate.rfc3339)),
      Self.attribute(19, DERWriter.utf8(originalApplicationVersion)), Self.attribute(20, DERWriter.utf8("")),
      Self.attribute(25, DERWriter.integer(3)),
    ]
    if let expirationDate { attributes.append(Self.attribute(21, DERWriter.ia5(expirationDate.rfc3339))) }
    if let organisation { attributes.append(Self.attribute(23, DERWriter.utf8(organisation))) }
    if let preorderDate { attributes.append(Self.attribute(32, DERWriter.ia5(preorderDate.rfc3339))) }
    attributes += otherAttributes.map { Self.attribute($0.type, $0.value) }
    let sold = purchases.map(attribute)
    return DERWriter.set((attributes + sold).sortedAsDER())
  }

  /// The purchases in the receipt's order, which is not by time.
  package var purchasesInOrder: [Purchase] {
    purchases.map { (attribute($0), $0) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
  }

  private func attribute(_ purchase: Purchase) -> [UInt8] {
    Self.attribute(17, purchase.encoded(hasOwnership: hasOwnership))
  }

  fileprivate static func attribute(_ type: Int64, _ value: [UInt8], version: Int64 = 1) -> [UInt8] {
    DERWriter.sequence(DERWriter.integer(type), DERWriter.integer(version), DERWriter.octets(value))
  }
}

extension SimulatedReceipt.Purchase {
  fileprivate func encoded(hasOwnership: Bool) -> [UInt8] {
    func attribute(_ type: Int64, _ value: [UInt8]) -> [UInt8] { SimulatedReceipt.attribute(type, value) }
    func date(_ date: Timestamp?) -> [UInt8] { DERWriter.ia5(date?.rfc3339 ?? "") }
    let offer = transaction.offer
    var attributes = [
      attribute(1701, DERWriter.integer(transaction.quantity)),
      attribute(1702, DERWriter.utf8(transaction.product.id)), attribute(1703, DERWriter.utf8(transactionID)),
      attribute(1704, date(transaction.purchaseDate)),
      attribute(1705, DERWriter.utf8(transaction.originalTransactionID)),
      attribute(1706, date(originalPurchaseDate)),
      attribute(1707, DERWriter.integer(transaction.product.kind.receiptType)),
      attribute(1708, date(transaction.expiresDate)), attribute(1709, DERWriter.ia5("")),
      attribute(1710, DERWriter.integer(0)),
      attribute(1711, DERWriter.integer(transaction.webOrderLineItemID.flatMap { Int64($0) } ?? 0)),
      attribute(1712, date(transaction.revocation?.date)),
      attribute(1713, DERWriter.integer(offer?.kind == .introductory && offer?.discount == .freeTrial ? 1 : 0)),
    ]
    if hasOwnership {
      attributes.append(attribute(1722, DERWriter.integer(transaction.ownership == .familyShared ? 1 : 0)))
    }
    if let revocation = transaction.revocation {
      attributes.append(attribute(1720, DERWriter.integer(revocation.reason)))
    }
    for type in Int64(1714)...1718 { attributes.append(attribute(type, DERWriter.ia5(""))) }
    if transaction.product.kind == .autoRenewable {
      let isIntroductory = offer?.kind == .introductory && offer?.discount != .freeTrial
      attributes.append(attribute(1719, DERWriter.integer(isIntroductory ? 1 : 0)))
    }
    if offer?.kind == .promotional, let id = offer?.identifier {
      attributes.append(attribute(1721, DERWriter.utf8(id)))
    }
    return DERWriter.set(attributes.sortedAsDER())
  }
}

extension Product.Kind {
  /// Attribute 1707.
  fileprivate var receiptType: Int64 {
    switch self {
    case .nonConsumable: 0
    case .consumable: 1
    case .nonRenewing: 2
    case .autoRenewable: 3
    }
  }
}

extension [[UInt8]] {
  /// Sorts like a SET OF: as bytes, the shorter first (X.690 section 11.6).
  fileprivate func sortedAsDER() -> Self { sorted { $0.lexicographicallyPrecedes($1) } }
}

extension Timestamp {
  fileprivate var rfc3339: String { Timestamp(wholeSeconds * 1_000).iso8601 }
}
