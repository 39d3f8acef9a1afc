import Signing

/// The certificates of a signed message, taken apart as far as it takes to find the signer's.
enum CertificateSet {
  /// Receipts have three.
  private static let limit = 10

  /// The signer's certificate, by issuer and serial number (RFC 5652 section 5.3), and the others.
  static func candidates(
    _ certificates: Range<Int>, of bytes: Span<UInt8>, signer: SignedMessage.SignerInfo, _ reader: inout DERReader
  ) throws(SignatureError) -> SignerVerifier.Candidates {
    var found: Range<Int>?
    var others: [[UInt8]] = []
    do throws(DERError) {
      var offset = certificates.lowerBound
      while offset < certificates.upperBound {
        let certificate = try reader.element(.sequence, in: bytes, at: &offset, before: certificates.upperBound)
        guard others.count < limit else { throw .tooMany }
        if found == nil, try names(certificate, signer, in: bytes, &reader) {
          found = certificate.whole
        } else {
          others.append(Array(copying: bytes.extracting(certificate.whole)))
        }
      }
    } catch {
      throw SignatureError(.malformedCertificate, "the certificates cannot be distinguished: \(error)")
    }
    guard let found else {
      throw SignatureError(.unknownSigner, "the signer's certificate is not in the receipt")
    }
    return SignerVerifier.Candidates(signer: Array(copying: bytes.extracting(found)), others: others)
  }

  private static func names(
    _ certificate: DERElement, _ signer: SignedMessage.SignerInfo, in bytes: Span<UInt8>, _ reader: inout DERReader
  ) throws(DERError) -> Bool {
    var offset = certificate.content.lowerBound
    let tbs = try reader.element(.sequence, in: bytes, at: &offset, before: certificate.content.upperBound)
    offset = tbs.content.lowerBound
    let limit = tbs.content.upperBound
    var serialNumber = try reader.element(in: bytes, at: &offset, before: limit)
    if serialNumber.tag == .context0 { serialNumber = try reader.element(in: bytes, at: &offset, before: limit) }
    _ = try reader.element(.sequence, in: bytes, at: &offset, before: limit)
    let issuer = try reader.element(.sequence, in: bytes, at: &offset, before: limit)
    return equal(bytes, serialNumber.content, signer.serialNumber) && equal(bytes, issuer.whole, signer.issuer)
  }

  private static func equal(_ bytes: Span<UInt8>, _ a: Range<Int>, _ b: Range<Int>) -> Bool {
    guard a.count == b.count else { return false }
    for index in 0..<a.count where bytes[a.lowerBound + index] != bytes[b.lowerBound + index] { return false }
    return true
  }
}

extension [UInt8] {
  init(copying span: Span<UInt8>) {
    self.init()
    reserveCapacity(span.count)
    for index in span.indices { append(span[index]) }
  }
}
