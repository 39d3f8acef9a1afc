package import Signing
package import Time

/// A public-key infrastructure like Apple's, made at run time for the simulator and tests.
///
/// P-384 root and intermediate, P-256 leaf, Apple's marker extensions, as in the certificates of 2021 to 2027.
package struct ApplePKI: Sendable {
  package let root: CertificateAuthority
  package let intermediate: CertificateAuthority
  package let leaf: CertificateAuthority
  /// The certificates of a header, leaf first; normally three.
  package var certificates: [[UInt8]]

  package init(root: CertificateAuthority, intermediate: CertificateAuthority, leaf: CertificateAuthority) {
    self.root = root
    self.intermediate = intermediate
    self.leaf = leaf
    certificates = [leaf, intermediate, root].map(\.certificate.der)
  }

  /// Creates keys and certificates by `blueprint`, valid around `instant`.
  package static func generate(
    at instant: Timestamp, _ blueprint: Blueprint? = nil
  ) throws(CertificateError) -> Self {
    let blueprint = blueprint ?? Blueprint(at: instant)
    let root = try CertificateAuthority.root(blueprint.root.template, key: .generate(blueprint.root.key))
    return try generate(below: root, blueprint)
  }

  package static func generate(
    below root: CertificateAuthority, _ blueprint: Blueprint
  ) throws(CertificateError) -> Self {
    let intermediate = try root.issue(blueprint.intermediate.template, to: .generate(blueprint.intermediate.key))
    let leaf = try intermediate.issue(blueprint.leaf.template, to: .generate(blueprint.leaf.key))
    return Self(root: root, intermediate: intermediate, leaf: leaf)
  }

  package func trustedRoot() throws(CertificateError) -> RootCertificate {
    guard let root = try RootCertificate.read(root.certificate.der).first else {
      throw CertificateError(.notARoot, "no root")
    }
    return root
  }

  package func signingKey() throws(CertificateError) -> SigningKey { try SigningKey(leaf.key) }
}

extension ApplePKI {
  /// The contents of the three certificates; tests change a part to make every kind of wrong one.
  package struct Blueprint: Sendable {
    package struct Part: Sendable {
      package var template: CertificateTemplate
      package var key: PrivateKey.Kind
    }

    package var root: Part
    package var intermediate: Part
    package var leaf: Part

    /// Creates valid contents from a year before `instant`, with Apple's lengths after it: 25, 15 and 2 years.
    package init(at instant: Timestamp) {
      let from = instant - .days(365)
      let marker = CertificateTemplate.Extension.init(_:)
      var root = CertificateTemplate(
        commonName: "Simulated Apple Root CA - G3", notBefore: from, notAfter: instant + .days(25 * 365),
        isAuthority: true)
      var intermediate = CertificateTemplate(
        commonName: "Simulated Worldwide Developer Relations Authority", notBefore: from,
        notAfter: instant + .days(15 * 365), isAuthority: true)
      var leaf = CertificateTemplate(
        commonName: "Simulated App Store Receipt Signing", notBefore: from,
        notAfter: instant + .days(2 * 365), isAuthority: false)
      root.pathLength = nil
      intermediate.pathLength = 0
      intermediate.extensions = [marker(.intermediate)]
      leaf.extensions = [marker(.leaf)]
      self.root = Part(template: root, key: .p384)
      self.intermediate = Part(template: intermediate, key: .p384)
      self.leaf = Part(template: leaf, key: .p256)
    }
  }
}
