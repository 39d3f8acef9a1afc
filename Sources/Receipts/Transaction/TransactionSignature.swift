/// The signature of an iOS 6 receipt: version, RSA signature, length of the certificate, the signer's certificate.
///
/// Seen in real receipts; Apple documents none of it. The signature is RSA with SHA-1 over the version byte and
/// `purchase-info`.
struct TransactionSignature {
  enum Version {
    /// By a signer whose issuer nobody has: it is pinned.
    case two
    /// By a receipt signer below Apple's Worldwide Developer Relations.
    case three

    var signatureCount: Int {
      switch self {
      case .two: 128
      case .three: 256
      }
    }
  }

  let version: Version
  let versionByte: UInt8
  let signature: Range<Int>
  let certificate: Range<Int>

  /// Nil when the parts do not fill the bytes exactly.
  init?(_ bytes: [UInt8]) {
    switch bytes.first {
    case 2?: version = .two
    case 3?: version = .three
    default: return nil
    }
    versionByte = bytes[0]
    signature = 1..<1 + version.signatureCount
    let start = signature.upperBound + 4
    guard bytes.count > start else { return nil }
    let count = bytes[signature.upperBound..<start].reduce(0) { $0 << 8 | Int($1) }
    guard bytes.count - start == count else { return nil }
    certificate = start..<bytes.count
  }
}
