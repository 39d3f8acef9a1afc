import Time

/// A leaf with a chain to a trusted root, and its key.
///
/// Time is not checked: each payload's date is compared with `validity`.
final class CertificateChain: Sendable {
  let key: PublicKey
  let leafFingerprint: Digest
  let leafSerialNumber: String
  let rootFingerprint: Digest
  /// The certificates to check for revocation: the leaf and the intermediate.
  let links: [RevocationCache.PendingCheck]
  /// The seconds in which every certificate of the chain is valid; `nil` if empty.
  private let validity: ClosedRange<Int64>?

  init(key: PublicKey, leaf: Certificate, intermediate: Certificate, root: Certificate) {
    self.key = key
    leafFingerprint = leaf.fingerprint
    leafSerialNumber = leaf.serialNumber
    rootFingerprint = root.fingerprint
    links = [
      RevocationCache.PendingCheck(certificate: leaf, issuer: intermediate),
      RevocationCache.PendingCheck(certificate: intermediate, issuer: root),
    ]
    let all = [leaf, intermediate, root].map(\.validity)
    let from = all.map(\.lowerBound).reduce(Int64.min, max)
    let until = all.map(\.upperBound).reduce(Int64.max, min)
    validity = from <= until ? from...until : nil
  }

  /// Throws for a date outside of any certificate's validity; both bounds are inside.
  ///
  /// Certificates have whole seconds, so the milliseconds of `date` do not count.
  func checkValidity(at date: Timestamp) throws(VerificationError) {
    let (quotient, remainder) = date.sinceEpoch.quotientAndRemainder(dividingBy: 1_000)
    let second = remainder < 0 ? quotient - 1 : quotient
    guard let validity else {
      throw VerificationError(.notValidAtSigning, "the certificates of the chain are never valid together")
    }
    guard validity.contains(second) else {
      let from = Timestamp(validity.lowerBound * 1_000).iso8601
      let until = Timestamp(validity.upperBound * 1_000).iso8601
      throw VerificationError(.notValidAtSigning, "signed at \(date.iso8601), certificates valid \(from) to \(until)")
    }
  }
}
