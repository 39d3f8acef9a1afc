import Time

/// Reads the content of an app receipt: a SET of attributes, each SEQUENCE { type, version, value }.
extension AppReceipt {
  init(content: Span<UInt8>, _ reader: inout DERReader) throws(DERError) {
    self.init()
    let set = try Self.attributeSet(in: content, &reader, depth: 0)
    switch set {
    case .inPlace(let range): try read(range, of: content, &reader)
    case .gathered(let bytes): try read(0..<bytes.count, of: bytes.span, &reader)
    }
  }

  /// Where the attributes stand; octet strings around them are opened, as some tools write them twice.
  private static func attributeSet(
    in bytes: Span<UInt8>, _ reader: inout DERReader, depth: Int
  ) throws(DERError) -> DEROctets {
    guard depth < 3 else { throw .tooDeep }
    var offset = 0
    let element = try reader.element(in: bytes, at: &offset, before: bytes.count)
    if element.tag == .set { return .inPlace(element.content) }
    guard element.tag == .octetString || element.tag == .constructedOctetString else { throw .malformed }
    let inner: [UInt8] =
      switch try reader.octets(of: element, in: bytes) {
      case .inPlace(let range): Array(copying: bytes.extracting(range))
      case .gathered(let bytes): bytes
      }
    switch try attributeSet(in: inner.span, &reader, depth: depth + 1) {
    case .inPlace(let range): return .gathered(Array(inner[range]))
    case .gathered(let bytes): return .gathered(bytes)
    }
  }

  private mutating func read(
    _ attributes: Range<Int>, of bytes: Span<UInt8>, _ reader: inout DERReader
  ) throws(DERError) {
    var offset = attributes.lowerBound
    while offset < attributes.upperBound {
      let attribute = try Attribute(in: bytes, at: &offset, before: attributes.upperBound, &reader)
      switch attribute.value {
      case .inPlace(let range): try note(attribute.type, range, of: bytes, &reader)
      case .gathered(let value): try note(attribute.type, 0..<value.count, of: value.span, &reader)
      }
    }
  }

  private mutating func note(
    _ type: Int64, _ value: Range<Int>, of bytes: Span<UInt8>, _ reader: inout DERReader
  ) throws(DERError) {
    if type == 17 { return try readPurchase(value, of: bytes, &reader) }
    count(note(plain: type, value, of: bytes, &reader))
  }

  private mutating func count(_ noted: Noted) {
    switch noted {
    case .known: break
    case .unknown: unknownAttributes += 1
    case .unreadable: unreadableAttributes += 1
    }
  }

  private mutating func note(
    plain type: Int64, _ value: Range<Int>, of bytes: Span<UInt8>, _ reader: inout DERReader
  ) -> Noted {
    func text() -> Read<String> { AttributeValue.text(value, of: bytes, &reader) }
    func integer() -> Read<Int64> { AttributeValue.integer(value, of: bytes, &reader) }
    func date() -> Read<Timestamp> { AttributeValue.date(value, of: bytes, &reader) }
    switch type {
    case 0: return text().keep(in: &receiptType)
    case 1: return integer().keep(in: &appItemID)
    case 2:
      bundleIDBytes = Array(copying: bytes.extracting(value))
      return text().keep(in: &bundleID)
    case 3: return text().keep(in: &applicationVersion)
    case 4:
      opaqueValue = Array(copying: bytes.extracting(value))
      return .known
    case 5:
      deviceHash = Array(copying: bytes.extracting(value))
      return .known
    case 6, 7: return .known
    case 8: return date().keep(in: &transactionDate)
    case 9: return integer().keep(in: &toolVersion)
    case 10: return text().keep(in: &ageRating)
    case 11: return integer().keep(in: &developerID)
    case 12: return date().keep(in: &createdAt)
    case 13: return integer().keep(in: &operatingSystemVersion)
    case 14: return integer().keep(in: &deviceClass)
    case 15: return integer().keep(in: &downloadID)
    case 16: return integer().keep(in: &versionExternalIdentifier)
    case 18: return date().keep(in: &originalPurchaseDate)
    case 19: return text().keep(in: &originalApplicationVersion)
    case 21: return date().keep(in: &expirationDate)
    case 23: return text().keep(in: &organizationName)
    case 25: return integer().keep(in: &platform)
    case 32: return date().keep(in: &preorderDate)
    default: return .unknown
    }
  }

  private mutating func readPurchase(
    _ value: Range<Int>, of bytes: Span<UInt8>, _ reader: inout DERReader
  ) throws(DERError) {
    var offset = value.lowerBound
    let set = try reader.element(.set, in: bytes, at: &offset, before: value.upperBound)
    var purchase = ReceiptPurchase()
    offset = set.content.lowerBound
    while offset < set.content.upperBound {
      let attribute = try Attribute(in: bytes, at: &offset, before: set.content.upperBound, &reader)
      switch attribute.value {
      case .inPlace(let range): count(purchase.note(attribute.type, range, of: bytes, &reader))
      case .gathered(let value): count(purchase.note(attribute.type, 0..<value.count, of: value.span, &reader))
      }
    }
    purchases.append(purchase)
  }
}
