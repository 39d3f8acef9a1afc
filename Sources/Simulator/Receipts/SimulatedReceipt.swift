package import Signing
package import Time

/// The app receipt of one customer, with every attribute that Apple's have; tests change what they want to be wrong.
package struct SimulatedReceipt: Sendable {
  package var bundleID: String
  package var applicationVersion = "214"
  package var originalApplicationVersion = "1.0"
  /// Attribute 0.
  package var receiptType: String
  /// Attribute 8 in Production, empty elsewhere.
  package var createdAt: Timestamp
  /// Attribute 12, when it was signed; nil: when it was created.
  package var signedAt: Timestamp?
  package var originalPurchaseDate: Timestamp
  /// Attributes 1, 15 and 16; 0 outside of Production.
  package var appAppleID: Int64 = 0
  package var downloadID: Int64 = 0
  package var versionExternalIdentifier: Int64 = 0
  /// Attribute 32, of who ordered the app before it was for sale.
  package var preorderDate: Timestamp?
  /// Attributes 21 and 23, of apps that organisations bought; see `apply`.
  package private(set) var expirationDate: Timestamp?
  package private(set) var organisation: String?
  package var purchases: [Purchase]
  /// Whether purchases have attribute 1722: not until the end of 2020.
  package var hasOwnership = true
  /// Attributes that no reader knows: their number and DER value.
  package var otherAttributes: [(type: Int64, value: [UInt8])] = []

  /// A purchase as a receipt tells it.
  package struct Purchase: Sendable {
    package var transaction: SimulatedTransaction
    /// Attribute 1703; another one after each restore.
    package var transactionID: String
    /// Attribute 1706; the time of the last restore, if there was one.
    package var originalPurchaseDate: Timestamp

    package init(_ transaction: SimulatedTransaction) {
      self.transaction = transaction
      transactionID = transaction.transactionID
      originalPurchaseDate = transaction.originalPurchaseDate
    }

    /// As V1 tells it, after any restores; the refund of a consumable, or of what an upgrade replaced, is not told.
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

  /// Makes it the receipt of an app that an organisation bought.
  package mutating func apply(_ licence: VolumeLicence) {
    receiptType = receiptType == "Production" ? "ProductionVPP" : "ProductionVPPSandbox"
    expirationDate = licence.expirationDate
    organisation = licence.organisation
  }

  /// The message in base64, as clients send it.
  package func encoded(
    signedBy pki: ReceiptPKI, hash: SignatureHash = .sha256
  ) throws(CertificateError) -> [UInt8] {
    Base64.standard.encode(try SignedReceiptMessage(content: content, hash: hash).signed(by: pki))
  }

  /// What is signed: a set of attributes, sorted by length as DER demands.
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

  /// The purchases in the order in which they stand in the receipt, which is none of time.
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
  /// In the order of a SET OF: as bytes, the shorter first (X.690 section 11.6).
  fileprivate func sortedAsDER() -> Self { sorted { $0.lexicographicallyPrecedes($1) } }
}

extension Timestamp {
  /// Whole seconds, as receipts have them.
  fileprivate var rfc3339: String { Timestamp(wholeSeconds * 1_000).iso8601 }
}
