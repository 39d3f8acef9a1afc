package import Time

/// What its issuer's responder last said of one certificate.
package struct CertificateStanding: Hashable, Sendable {
  /// Of the certificate: the SHA-256 of its DER.
  package let certificate: Digest
  package let serialNumber: String
  package let status: OCSPAnswer.Status
  package let thisUpdate: Milliseconds
  /// Until when it counts; no answer counts for longer than `longest`.
  package let nextUpdate: Milliseconds

  /// A responder that says "for a year" would make a revocation unheard of for as long.
  package static let longest = Interval.days(7)
  private static let certificateHold = 6

  package init(
    certificate: Digest, serialNumber: String, status: OCSPAnswer.Status, thisUpdate: Milliseconds,
    nextUpdate: Milliseconds
  ) {
    self.certificate = certificate
    self.serialNumber = serialNumber
    self.status = status
    self.thisUpdate = thisUpdate
    self.nextUpdate = min(nextUpdate, thisUpdate + Self.longest)
  }

  package init(_ answer: OCSPAnswer, about certificate: Certificate) {
    self.init(
      certificate: certificate.fingerprint, serialNumber: certificate.serialNumber, status: answer.status,
      thisUpdate: answer.thisUpdate, nextUpdate: answer.nextUpdate)
  }

  /// Whether a message signed at `date` was signed with a certificate that was good, as far as can be told at `now`.
  ///
  /// What was good later was good before: revocations are not taken back.
  func vouches(for date: Milliseconds, at now: Milliseconds) -> Bool {
    switch status {
    case .good: date <= thisUpdate || now <= nextUpdate
    // Signed before: it was good then.
    case .revoked(let end, _): date < end
    case .unknown: false
    }
  }

  package var revokedAt: Milliseconds? {
    if case .revoked(let date, _) = status { date } else { nil }
  }

  /// What is to be believed after `later` was said too.
  ///
  /// A revocation stays, unless it was a hold; that nobody knows the certificate takes nothing back.
  package func followed(by later: Self) -> Self {
    switch (status, later.status) {
    case (.revoked(_, let reason), .good) where reason != Self.certificateHold: self
    case (.revoked, .unknown), (.good, .unknown): self
    case (.revoked, _), (.good, _), (.unknown, _): later.thisUpdate >= thisUpdate ? later : self
    }
  }
}
