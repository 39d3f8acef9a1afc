/// A P-256 key that signs ES256 tokens: Apple's `.p8` for the App Store Server API, or the simulator's leaf.
public struct SigningKey: Sendable {
  package let privateKey: PrivateKey

  /// Reads the bytes of a `.p8` file: PKCS#8 in PEM.
  public init(pem: [UInt8]) throws(CertificateError) { try self.init(PrivateKey(pem: pem)) }

  /// Throws for any key except P-256.
  package init(_ privateKey: PrivateKey) throws(CertificateError) {
    guard try privateKey.publicKey().isP256 else {
      throw CertificateError(.unusableKey, "ES256 needs a key on the curve P-256")
    }
    self.privateKey = privateKey
  }

  public static func generate() throws(CertificateError) -> Self { try Self(PrivateKey.generate(.p256)) }

  /// Returns the contents of a `.p8` file, which only its owner may read.
  package func pem() throws(CertificateError) -> [UInt8] { try privateKey.pem() }

  /// Returns r and s in JOSE form.
  package func signature(of bytes: [UInt8]) throws(CertificateError) -> RawSignature {
    guard let signature = RawSignature(der: try privateKey.signature(of: bytes)) else {
      throw CertificateError(.unusableKey, "a signature that is not two numbers of 32 bytes")
    }
    return signature
  }
}
