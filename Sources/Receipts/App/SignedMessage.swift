import Signing

/// The parts of a PKCS#7 signed message (RFC 2315 section 9, RFC 5652 section 5) and where they stand in its bytes.
struct SignedMessage {
  /// Why bytes are no message that can be judged.
  enum Failure: Error, Hashable {
    case der(DERError)
    /// Well-formed, but something else.
    case notASignedMessage
  }

  /// What vouches for the content; where a message has none, or one of a kind that Apple does not make, why not.
  enum Signer {
    case one(SignerInfo)
    case none
    case unsupported(String)
  }

  struct SignerInfo {
    /// Issuer and serial number, as they must stand in the certificate.
    let identity: Range<Int>
    let issuer: Range<Int>
    let serialNumber: Range<Int>
    let hash: SignatureHash
    /// Nil when the content itself is signed, as Apple does.
    let attributes: SignedAttributes?
    let signature: Range<Int>
  }

  let content: DEROctets
  /// The content of `[0] certificates`: certificates one after the other; empty when there are none.
  let certificates: Range<Int>
  let signer: Signer

  init(_ bytes: Span<UInt8>, _ reader: inout DERReader) throws(Failure) {
    var isWhole = false
    do throws(DERError) {
      var offset = 0
      let contentInfo = try reader.element(in: bytes, at: &offset, before: bytes.count)
      isWhole = true
      guard contentInfo.tag == .sequence else { throw .malformed }
      offset = contentInfo.content.lowerBound
      let type = try reader.element(in: bytes, at: &offset, before: contentInfo.content.upperBound)
      guard type.tag == .objectIdentifier, Self.signedData.isAt(type.content, of: bytes) else { throw .malformed }
      let wrapper = try reader.element(.context0, in: bytes, at: &offset, before: contentInfo.content.upperBound)
      offset = wrapper.content.lowerBound
      let signedData = try reader.element(.sequence, in: bytes, at: &offset, before: wrapper.content.upperBound)
      let limit = signedData.content.upperBound
      offset = signedData.content.lowerBound
      _ = try reader.element(.integer, in: bytes, at: &offset, before: limit)
      _ = try reader.element(.set, in: bytes, at: &offset, before: limit)
      content = try Self.content(in: bytes, at: &offset, before: limit, &reader)
      var certificates = limit..<limit
      var signers: DERElement?
      while signers == nil {
        let next = try reader.element(in: bytes, at: &offset, before: limit)
        switch next.tag {
        case .context0: certificates = next.content
        case .context1: break
        case .set: signers = next
        default: throw .malformed
        }
      }
      self.certificates = certificates
      signer = try Self.signer(signers?.content ?? limit..<limit, in: bytes, &reader)
    } catch {
      // What ends within a message that is whole was not cut off.
      throw error == .malformed || (isWhole && error == .truncated) ? .notASignedMessage : .der(error)
    }
  }

  private static func content(
    in bytes: Span<UInt8>, at offset: inout Int, before limit: Int, _ reader: inout DERReader
  ) throws(DERError) -> DEROctets {
    let info = try reader.element(.sequence, in: bytes, at: &offset, before: limit)
    var inner = info.content.lowerBound
    let type = try reader.element(.objectIdentifier, in: bytes, at: &inner, before: info.content.upperBound)
    guard data.isAt(type.content, of: bytes) else { throw .malformed }
    let wrapper = try reader.element(.context0, in: bytes, at: &inner, before: info.content.upperBound)
    inner = wrapper.content.lowerBound
    let octets = try reader.element(in: bytes, at: &inner, before: wrapper.content.upperBound)
    guard inner == wrapper.content.upperBound else { throw .malformed }
    return try reader.octets(of: octets, in: bytes)
  }

  private static func signer(
    _ infos: Range<Int>, in bytes: Span<UInt8>, _ reader: inout DERReader
  ) throws(DERError) -> Signer {
    guard !infos.isEmpty else { return .none }
    var offset = infos.lowerBound
    let info = try reader.element(.sequence, in: bytes, at: &offset, before: infos.upperBound)
    guard offset == infos.upperBound else { return .unsupported("more than one signer") }
    let limit = info.content.upperBound
    offset = info.content.lowerBound
    _ = try reader.element(.integer, in: bytes, at: &offset, before: limit)
    let identity = try reader.element(in: bytes, at: &offset, before: limit)
    guard identity.tag == .sequence else { return .unsupported("a signer not named by issuer and serial number") }
    var inner = identity.content.lowerBound
    let issuer = try reader.element(.sequence, in: bytes, at: &inner, before: identity.content.upperBound)
    let serialNumber = try reader.element(.integer, in: bytes, at: &inner, before: identity.content.upperBound)
    guard let digest = try algorithm(in: bytes, at: &offset, before: limit, &reader) else {
      return .unsupported("a digest other than SHA-1 and SHA-256")
    }
    var next = try reader.element(in: bytes, at: &offset, before: limit)
    var attributes: SignedAttributes?
    if next.tag == .context0 {
      attributes = try SignedAttributes(next, in: bytes, &reader)
      guard attributes != nil else { return .unsupported("signed attributes that do not say what was signed") }
      next = try reader.element(in: bytes, at: &offset, before: limit)
    }
    guard next.tag == .sequence, let scheme = try scheme(next, in: bytes, &reader), scheme.allows(digest) else {
      return .unsupported("a signature other than RSA PKCS#1 v1.5")
    }
    let signature = try reader.element(.octetString, in: bytes, at: &offset, before: limit)
    return .one(
      SignerInfo(
        identity: identity.whole, issuer: issuer.whole, serialNumber: serialNumber.content, hash: digest,
        attributes: attributes, signature: signature.content))
  }

  private static func algorithm(
    in bytes: Span<UInt8>, at offset: inout Int, before limit: Int, _ reader: inout DERReader
  ) throws(DERError) -> SignatureHash? {
    let algorithm = try reader.element(.sequence, in: bytes, at: &offset, before: limit)
    var inner = algorithm.content.lowerBound
    let identifier = try reader.element(
      .objectIdentifier, in: bytes, at: &inner, before: algorithm.content.upperBound)
    if sha1.isAt(identifier.content, of: bytes) { return .sha1 }
    return sha256.isAt(identifier.content, of: bytes) ? .sha256 : nil
  }

  private enum Scheme {
    case rsa
    case rsaWith(SignatureHash)

    func allows(_ digest: SignatureHash) -> Bool {
      switch self {
      case .rsa: true
      case .rsaWith(let hash): hash == digest
      }
    }
  }

  private static func scheme(
    _ algorithm: DERElement, in bytes: Span<UInt8>, _ reader: inout DERReader
  ) throws(DERError) -> Scheme? {
    var inner = algorithm.content.lowerBound
    let identifier = try reader.element(
      .objectIdentifier, in: bytes, at: &inner, before: algorithm.content.upperBound)
    if rsa.isAt(identifier.content, of: bytes) { return .rsa }
    if sha1WithRSA.isAt(identifier.content, of: bytes) { return .rsaWith(.sha1) }
    return sha256WithRSA.isAt(identifier.content, of: bytes) ? .rsaWith(.sha256) : nil
  }

  private static let signedData = ObjectIdentifier(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02)
  static let data = ObjectIdentifier(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01)
  private static let sha1 = ObjectIdentifier(0x2B, 0x0E, 0x03, 0x02, 0x1A)
  private static let sha256 = ObjectIdentifier(0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01)
  private static let rsa = ObjectIdentifier(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01)
  private static let sha1WithRSA = ObjectIdentifier(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x05)
  private static let sha256WithRSA = ObjectIdentifier(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B)
}

/// The content of an object identifier's element.
struct ObjectIdentifier {
  private let bytes: [UInt8]

  init(_ bytes: UInt8...) { self.bytes = bytes }

  func isAt(_ range: Range<Int>, of all: Span<UInt8>) -> Bool {
    guard range.count == bytes.count else { return false }
    for index in bytes.indices where bytes[index] != all[range.lowerBound + index] { return false }
    return true
  }
}
