package import Signing
package import Time

/// The certificates that Apple's signatures can come with: the present ones, and wrong ones for faults.
package struct SigningChains: Sendable {
  /// What signs while nothing goes wrong.
  package let pki: ApplePKI
  package let present: PayloadSigner
  /// Below the same root, with a new intermediate and leaf, as after Apple's change of certificates.
  let renewed: PayloadSigner
  /// Below the same root, with a leaf that ran out a year ago.
  let expired: PayloadSigner
  /// Below a root of the same name that nobody trusts.
  let foreign: PayloadSigner

  package init(
    _ pki: ApplePKI, at now: Milliseconds, _ blueprint: ApplePKI.Blueprint
  ) throws(CertificateError) {
    self.pki = pki
    present = try PayloadSigner(pki)
    renewed = try PayloadSigner(.generate(below: pki.root, blueprint))
    var old = blueprint
    old.leaf.template.notBefore = now - .days(3 * 365)
    old.leaf.template.notAfter = now - .days(365)
    expired = try PayloadSigner(.generate(below: pki.root, old))
    foreign = try PayloadSigner(.generate(at: now, blueprint))
  }

  /// The signer that a fault asks for.
  func signer(_ faults: [Fault]) -> PayloadSigner {
    for fault in faults {
      switch fault.kind {
      case .newChain: return renewed
      case .expiredChain: return expired
      case .foreignChain: return foreign
      default: continue
      }
    }
    return present
  }
}
