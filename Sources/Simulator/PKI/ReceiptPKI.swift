package import Signing
package import Time

/// A public-key infrastructure like the one of Apple's receipts: RSA throughout, made at run time.
package struct ReceiptPKI: Sendable {
  package let root: CertificateAuthority
  package let intermediate: CertificateAuthority
  package let leaf: CertificateAuthority
  /// The signer of iOS 6 receipts of version 3, issued by the root, since such a receipt carries only its signer.
  package let transactionSigner: CertificateAuthority
  /// The certificates of a message, leaf first; normally three.
  package var certificates: [[UInt8]]

  /// Creates keys and certificates by `blueprint`, which takes about a second.
  package static func generate(
    at instant: Timestamp, _ blueprint: Blueprint? = nil
  ) throws(CertificateError) -> Self {
    let blueprint = blueprint ?? Blueprint(at: instant)
    let root = try CertificateAuthority.root(blueprint.root, key: .generate(.rsa2048))
    return try generate(below: root, blueprint)
  }

  private static let keys: Result<Self, CertificateError> = Result { () throws(CertificateError) in
    try generate(at: Timestamp(0))
  }

  /// Creates certificates with keys that the process makes once.
  package static func shared(at instant: Timestamp) throws(CertificateError) -> Self {
    try generate(at: instant, keys: keys.get())
  }

  package static func generate(at instant: Timestamp, keys: Self) throws(CertificateError) -> Self {
    let blueprint = Blueprint(at: instant)
    return try generate(below: .root(blueprint.root, key: keys.root.key), blueprint, keys: keys)
  }

  /// Creates certificates below an existing root; `keys` of another one make it faster.
  package static func generate(
    below root: CertificateAuthority, _ blueprint: Blueprint, keys: Self? = nil
  ) throws(CertificateError) -> Self {
    func key(_ known: PrivateKey?) throws(CertificateError) -> PrivateKey {
      if let known { known } else { try .generate(blueprint.key) }
    }
    let intermediate = try root.issue(blueprint.intermediate, to: key(keys?.intermediate.key))
    let leaf = try intermediate.issue(blueprint.leaf, to: key(keys?.leaf.key))
    let transactionSigner = try root.issue(blueprint.leaf, to: leaf.key)
    return Self(
      root: root, intermediate: intermediate, leaf: leaf, transactionSigner: transactionSigner,
      certificates: [leaf, intermediate, root].map(\.certificate.der))
  }

  package func trustedRoot() throws(CertificateError) -> RootCertificate {
    guard let root = try RootCertificate.read(root.certificate.der).first else {
      throw CertificateError(.notARoot, "no root")
    }
    return root
  }

  /// The contents of the certificates; tests change a part to make every kind of wrong one.
  package struct Blueprint: Sendable {
    package var root: CertificateTemplate
    package var intermediate: CertificateTemplate
    package var leaf: CertificateTemplate
    package var key = PrivateKey.Kind.rsa2048

    /// Creates valid contents from ten years before `instant`, because receipts are verified at their own date.
    package init(at instant: Timestamp) {
      let from = instant - .days(10 * 365)
      let marker = CertificateTemplate.Extension.init(_:)
      root = CertificateTemplate(
        commonName: "Simulated Apple Root CA", notBefore: from, notAfter: instant + .days(25 * 365),
        isAuthority: true)
      intermediate = CertificateTemplate(
        commonName: "Simulated Worldwide Developer Relations Certification Authority", notBefore: from,
        notAfter: instant + .days(15 * 365), isAuthority: true)
      leaf = CertificateTemplate(
        commonName: "Simulated Mac App Store and iTunes Store Receipt Signing", notBefore: from,
        notAfter: instant + .days(2 * 365), isAuthority: false)
      intermediate.pathLength = 0
      intermediate.extensions = [marker(.intermediate)]
      leaf.extensions = [marker(.leaf)]
    }
  }
}
