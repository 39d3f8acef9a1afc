/// What a signer signs in place of the content: its type and its digest (RFC 5652 sections 5.3 and 11).
///
/// None of Apple's receipts has them (27 of 27). Those that do are held to the standard: both attributes must be there
/// once, and what is signed is the set as DER, under the tag of a SET.
struct SignedAttributes {
  /// The digest of the content, as signed.
  let messageDigest: Range<Int>
  /// Everything behind the tag.
  private let behindTag: Range<Int>

  /// Nil when they do not say what was signed.
  init?(_ set: DERElement, in bytes: Span<UInt8>, _ reader: inout DERReader) throws(DERError) {
    // The signature is over the definite form, which is not here then.
    guard bytes[set.start + 1] != 0x80 else { return nil }
    behindTag = set.start + 1..<set.end
    var (types, digests): ([Range<Int>], [Range<Int>]) = ([], [])
    var offset = set.content.lowerBound
    while offset < set.content.upperBound {
      let attribute = try reader.element(.sequence, in: bytes, at: &offset, before: set.content.upperBound)
      var inner = attribute.content.lowerBound
      let type = try reader.element(.objectIdentifier, in: bytes, at: &inner, before: attribute.content.upperBound)
      let values = try reader.element(.set, in: bytes, at: &inner, before: attribute.content.upperBound)
      inner = values.content.lowerBound
      let value = try reader.element(in: bytes, at: &inner, before: values.content.upperBound)
      let isAlone = inner == values.content.upperBound
      if Self.contentType.isAt(type.content, of: bytes) {
        guard isAlone, value.tag == .objectIdentifier else { return nil }
        types.append(value.content)
      } else if Self.messageDigest.isAt(type.content, of: bytes) {
        guard isAlone, value.tag == .octetString else { return nil }
        digests.append(value.content)
      }
    }
    guard types.count == 1, digests.count == 1, SignedMessage.data.isAt(types[0], of: bytes) else { return nil }
    messageDigest = digests[0]
  }

  /// The bytes that the signature is over.
  func signed(in bytes: Span<UInt8>) -> [UInt8] {
    [DERTag.set.rawValue] + Array(copying: bytes.extracting(behindTag))
  }

  private static let contentType = ObjectIdentifier(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03)
  private static let messageDigest = ObjectIdentifier(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04)
}
