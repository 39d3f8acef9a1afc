package import Time

/// What holds while nobody can say whether a certificate was revoked.
///
/// A revocation that is known counts under each of them.
package enum RevocationPolicy: String, Sendable, CaseIterable {
  /// Refused until a responder has vouched: the message is kept and can be read again.
  case require
  /// Accepted and counted.
  case prefer
  /// Nobody is asked.
  case off

  package enum Verdict: Equatable, Sendable {
    /// A responder vouched for it.
    case vouched
    /// The certificate is no longer valid: responders do not speak of it, and its history stays what it was.
    case history
    /// Nobody said anything that counts; accepted all the same.
    case unvouched
    case refused(VerificationError)
  }

  /// Whether a message signed at `date` may be believed, as for one certificate of its chain.
  package func verdict(
    on certificate: Certificate, _ standing: CertificateStanding?, signedAt date: Milliseconds, now: Milliseconds
  ) -> Verdict {
    if let end = standing?.revokedAt, date >= end {
      return .refused(
        VerificationError(
          .revoked, "signed at \(date.iso8601), certificate \(certificate.serialNumber) was revoked at \(end.iso8601)"))
    }
    guard certificate.validity.contains(now.wholeSeconds) else { return .history }
    if standing?.vouches(for: date, at: now) == true { return .vouched }
    guard self == .require else { return .unvouched }
    if certificate.ocspURLs.isEmpty {
      return .refused(
        VerificationError(
          .noResponderNamed, "certificate \(certificate.serialNumber) names no responder that could vouch for it"))
    }
    let said = standing.map { $0.status == .unknown ? "its responder does not know it" : "the last answer is too old" }
    return .refused(
      VerificationError(
        .revocationNotKnown, "certificate \(certificate.serialNumber): \(said ?? "its responder has not answered yet")")
    )
  }
}
