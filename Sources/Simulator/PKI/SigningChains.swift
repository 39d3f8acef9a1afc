package import Signing
package import Time

/// The certificate chains of Apple's signatures: the present one, and wrong ones for faults.
package struct SigningChains: Sendable {
  package let pki: ApplePKI
  package let present: PayloadSigner
  /// Below the same root, with a new intermediate and leaf, as after Apple's change of certificates.
  let renewed: PayloadSigner
  /// Below the same root, with a leaf that expired a year ago.
  let expired: PayloadSigner
  /// Below an untrusted root of the same name.
  let foreign: PayloadSigner

  /// The issuers of all leaves below the root, by their names in responder paths.
  let issuers: [String: CertificateAuthority]

  package init(
    _ pki: ApplePKI, at now: Timestamp, _ blueprint: ApplePKI.Blueprint
  ) throws(CertificateError) {
    self.pki = pki
    present = try PayloadSigner(pki)
    var other = blueprint
    let responder = blueprint.leaf.template.ocspURL
    other.leaf.template.ocspURL = responder.map { $0 + "-renewed" }
    let new = try ApplePKI.generate(below: pki.root, other)
    renewed = try PayloadSigner(new)
    other.leaf.template.ocspURL = responder.map { $0 + "-expired" }
    other.leaf.template.notBefore = now - .days(3 * 365)
    other.leaf.template.notAfter = now - .days(365)
    let old = try ApplePKI.generate(below: pki.root, other)
    expired = try PayloadSigner(old)
    foreign = try PayloadSigner(.generate(at: now, blueprint))
    issuers = [
      "intermediate": pki.intermediate, "intermediate-renewed": new.intermediate,
      "intermediate-expired": old.intermediate,
    ]
  }
}
