import Signing
import Time

/// The content of a receipt that verifyReceipt received, after the signature check.
struct SentReceipt: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// An app receipt, with any number of purchases.
    case app
    /// The receipt of one purchase, as in iOS 6.
    case transaction
  }

  struct Purchase: Hashable, Sendable {
    /// The receipt's ID, which each restore changes.
    var transactionID = ""
    var originalTransactionID = ""
  }

  var kind: Kind
  var bundleID: String
  var environment: AppStoreEnvironment
  var applicationVersion = ""
  /// Attribute 8, or 12 in the Sandbox, which leaves 8 empty.
  var createdAt = Timestamp(0)
  /// Attribute 12, the signing date; the Unix epoch for transaction receipts, which lack it.
  var signedAt = Timestamp(0)
  var purchases: [Purchase]

  enum Refusal: Int64, Error, Hashable, Sendable {
    case malformed = 21_002
    case notAuthentic = 21_003
  }

  static let limit = 8 << 20

  /// Parses `receipt-data` that `pki` signed.
  ///
  /// Damage that Apple accepts is accepted: line breaks, spaces instead of plus signs, and missing padding.
  init(receiptData text: String, signedBy pki: ReceiptPKI) throws(Refusal) {
    guard text.utf8.count <= Self.limit, let bytes = Self.base64(text) else { throw .malformed }
    if bytes.first == 0x30 {
      try self.init(message: bytes, pki)
    } else if bytes.first == UInt8(ascii: "{") {
      try self.init(propertyList: String(decoding: bytes, as: UTF8.self), pki)
    } else {
      throw .malformed
    }
  }

  private static func base64(_ text: String) -> [UInt8]? {
    var characters = text.utf8.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
      .map { $0 == UInt8(ascii: " ") ? UInt8(ascii: "+") : $0 }
    while !characters.isEmpty, characters.count % 4 != 0 { characters.append(UInt8(ascii: "=")) }
    return characters.isEmpty ? nil : Base64.standard.decode(characters)
  }

  // MARK: App receipts

  private init(message: [UInt8], _ pki: ReceiptPKI) throws(Refusal) {
    guard DERPieces(message[...]).first(where: { _ in true })?.pieces.count == 2 else { throw .malformed }
    // Apple checks the signature at the receipt's own date, which is inside; any date is valid for these certificates.
    guard let template = Self.validity(of: pki),
      let content = CMSVerification.content(
        of: message, trustedRoots: [pki.root.certificate.fingerprint], validAt: template)
    else { throw .notAuthentic }
    guard let set = DERPieces(content[...]).first(where: { _ in true }), set.tag == 0x31 else { throw .malformed }
    kind = .app
    (bundleID, environment, purchases) = ("", .sandbox, [])
    for (type, value) in Self.attributes(of: set) {
      let inner = DERPieces(value).first { _ in true }
      switch type {
      case 0: environment = ["Production", "ProductionVPP"].contains(inner?.text) ? .production : .sandbox
      case 2: bundleID = inner?.text ?? ""
      case 3: applicationVersion = inner?.text ?? ""
      case 8: createdAt = inner?.text.flatMap(Self.date) ?? createdAt
      case 12: signedAt = inner?.text.flatMap(Self.date) ?? signedAt
      case 17: if let inner { purchases.append(Self.purchase(in: inner)) }
      default: continue
      }
    }
    if createdAt == Timestamp(0) { createdAt = signedAt }
  }

  /// Parses RFC 3339 in whole seconds: `2026-01-31T23:59:58Z`.
  private static func date(_ text: String) -> Timestamp? {
    let parts = text.split { !$0.isNumber }.compactMap { Int64($0) }
    guard parts.count == 6, text.hasSuffix("Z") else { return nil }
    // Days from 1970-01-01 in the Gregorian calendar, years beginning in March (Howard Hinnant, days_from_civil).
    let year = parts[1] > 2 ? parts[0] : parts[0] - 1
    let dayOfYear = (153 * ((parts[1] + 9) % 12) + 2) / 5 + parts[2] - 1
    let days = year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    return Timestamp((days * 86_400 + parts[3] * 3_600 + parts[4] * 60 + parts[5]) * 1_000)
  }

  private static func validity(of pki: ReceiptPKI) -> Timestamp? {
    Timestamp((pki.leaf.certificate.validity.lowerBound + 1) * 1_000)
  }

  private static func purchase(in set: DERPieces.Piece) -> Purchase {
    var purchase = Purchase()
    for (type, value) in attributes(of: set) {
      let text = DERPieces(value).first { _ in true }?.text ?? ""
      if type == 1703 { purchase.transactionID = text }
      if type == 1705 { purchase.originalTransactionID = text }
    }
    return purchase
  }

  /// Returns type and value of SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }.
  private static func attributes(of set: DERPieces.Piece) -> [(type: Int64, value: ArraySlice<UInt8>)] {
    set.pieces.compactMap { attribute in
      let parts = attribute.pieces
      guard parts.count == 3, let type = parts[0].integer, parts[2].tag == 0x04 else { return nil }
      return (type, parts[2].content)
    }
  }

  // MARK: Transaction receipts

  private init(propertyList text: String, _ pki: ReceiptPKI) throws(Refusal) {
    guard let signature = Self.value("signature", in: text).flatMap({ Base64.standard.decode(Array($0.utf8)) }),
      let info = Self.value("purchase-info", in: text).flatMap({ Base64.standard.decode(Array($0.utf8)) })
    else { throw .malformed }
    guard Self.isSigned(info, signature, by: pki) else { throw .notAuthentic }
    let inner = String(decoding: info, as: UTF8.self)
    kind = .transaction
    bundleID = Self.value("bid", in: inner) ?? ""
    environment = Self.value("environment", in: text) == "Sandbox" ? .sandbox : .production
    purchases = [
      Purchase(
        transactionID: Self.value("transaction-id", in: inner) ?? "",
        originalTransactionID: Self.value("original-transaction-id", in: inner) ?? "")
    ]
  }

  /// Version, signature, length of the certificate in four bytes, certificate.
  private static func isSigned(_ info: [UInt8], _ signature: [UInt8], by pki: ReceiptPKI) -> Bool {
    let signer = pki.transactionSigner.certificate
    guard signature.first == 3, signature.count > 261, Array(signature[261...]) == signer.der,
      let key = try? RSAPublicKey(of: signer)
    else { return false }
    return key.verifies(Array(signature[1..<257]).span, of: ([3] + info).span, hashedWith: .sha1)
  }

  /// Returns the value in `"name" = "value";`.
  private static func value(_ name: String, in text: String) -> String? {
    guard let start = text.firstRange(of: "\"\(name)\" = \"")?.upperBound,
      let end = text[start...].firstIndex(of: "\"")
    else { return nil }
    return String(text[start..<end])
  }
}
