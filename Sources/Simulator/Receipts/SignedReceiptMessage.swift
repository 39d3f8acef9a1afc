package import Signing

/// A PKCS#7 signed message as in Apple's receipts: no signed attributes, three certificates.
package struct SignedReceiptMessage: Sendable {
  package var content: [UInt8]
  /// SHA-1 until 2023, SHA-256 since.
  package var hash: SignatureHash
  /// Whether lengths are indefinite and octet strings in pieces, as Xcode writes.
  package var isIndefinite = false
  package var signers = Signers.one

  /// The way to sign a message, for tests; Apple has one.
  package enum Signers: Sendable, CaseIterable {
    case one, none, two
    /// Signs attributes instead of the content: its type and its digest.
    case withAttributes
    case withAttributesOfOtherContent
    case withoutDigest
    /// The digest is declared as SHA-512.
    case otherDigest
    case otherScheme
  }

  package init(content: [UInt8], hash: SignatureHash) {
    self.content = content
    self.hash = hash
  }

  /// Creates the message, signed by the leaf of `pki` by default.
  package func signed(
    by pki: ReceiptPKI, with key: PrivateKey? = nil, naming signer: CertificateAuthority? = nil
  ) throws(CertificateError) -> [UInt8] {
    let signed = attributes.map(DERWriter.set) ?? content
    let signature = try (key ?? pki.leaf.key).signature(of: signed, hashedWith: hash)
    let algorithm = DERWriter.sequence(signers == .otherDigest ? Self.sha512 : hash.identifier, DERWriter.null)
    let scheme = DERWriter.sequence(signers == .otherScheme ? Self.ecdsa : Self.rsaEncryption, DERWriter.null)
    let signerInfo = DERWriter.sequence(
      DERWriter.integer(1), Self.issuerAndSerialNumber(of: (signer ?? pki.leaf).certificate.der), algorithm,
      attributes.map { DERWriter.element(0xA0, Array($0.joined())) } ?? [], scheme, DERWriter.octets(signature))
    let signerInfos =
      switch signers {
      case .none: [[UInt8]]()
      case .two: [signerInfo, signerInfo]
      case .one, .withAttributes, .withAttributesOfOtherContent, .withoutDigest, .otherDigest, .otherScheme:
        [signerInfo]
      }
    let certificates = DERWriter.element(0xA0, Array(pki.certificates.joined()))
    let head = DERWriter.integer(1) + DERWriter.set([algorithm])
    let tail = certificates + DERWriter.set(signerInfos)
    if isIndefinite {
      let half = content.count / 2
      let octets = Self.indefinite(
        0x24, DERWriter.octets(Array(content[..<half])) + DERWriter.octets(Array(content[half...])))
      let info = Self.indefinite(0x30, Self.data + Self.indefinite(0xA0, octets))
      return Self.indefinite(
        0x30, Self.signedData + Self.indefinite(0xA0, Self.indefinite(0x30, head + info + tail)))
    }
    let info = DERWriter.sequence(Self.data, DERWriter.element(0xA0, DERWriter.octets(content)))
    return DERWriter.sequence(Self.signedData, DERWriter.element(0xA0, DERWriter.sequence(head, info, tail)))
  }

  /// The attributes to sign instead of the content; `nil` to sign the content.
  private var attributes: [[UInt8]]? {
    func attribute(_ number: UInt8, _ value: [UInt8]) -> [UInt8] {
      DERWriter.sequence([0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, number], DERWriter.set([value]))
    }
    func digest(of content: [UInt8]) -> [UInt8] { attribute(4, DERWriter.octets(hash.digest(of: content.span))) }
    let type = attribute(3, Self.data)
    return switch signers {
    case .one, .none, .two, .otherDigest, .otherScheme: nil
    case .withAttributes: [type, digest(of: content)]
    case .withAttributesOfOtherContent: [type, digest(of: content + [0])]
    case .withoutDigest: [type]
    }
  }

  private static func indefinite(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, 0x80] + content + [0, 0] }

  private static func issuerAndSerialNumber(of certificate: [UInt8]) -> [UInt8] {
    // SEQUENCE { SEQUENCE { [0] version, serial number, algorithm, issuer, … } }
    var offset = header(of: certificate, at: header(of: certificate, at: 0).content).content
    offset = header(of: certificate, at: offset).end
    let serialNumber = header(of: certificate, at: offset)
    let algorithm = header(of: certificate, at: serialNumber.end)
    let issuer = header(of: certificate, at: algorithm.end)
    return DERWriter.sequence(
      Array(certificate[algorithm.end..<issuer.end]), Array(certificate[offset..<serialNumber.end]))
  }

  private static func header(of bytes: [UInt8], at offset: Int) -> (content: Int, end: Int) {
    let first = Int(bytes[offset + 1])
    guard first >= 0x80 else { return (offset + 2, offset + 2 + first) }
    let content = offset + 2 + (first & 0x7F)
    let count = bytes[offset + 2..<content].reduce(0) { $0 << 8 | Int($1) }
    return (content, content + count)
  }

  private static let signedData: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
  private static let data: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
  private static let sha512: [UInt8] = [0x06, 9, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03]
  private static let ecdsa: [UInt8] = [0x06, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
  private static let rsaEncryption: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
}

extension SignatureHash {
  fileprivate var identifier: [UInt8] {
    switch self {
    case .sha1: [0x06, 5, 0x2B, 0x0E, 0x03, 0x02, 0x1A]
    case .sha256: [0x06, 9, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
    }
  }
}
