import Synchronization
package import Time

/// The certificates in use, and the revoked ones among them.
///
/// A service asks the responders of their issuers and stores the results here. A chain enters only after it has signed
/// a message, so strangers cannot fill it.
package final class RevocationCache: Sendable {
  package struct PendingCheck: Sendable {
    package let certificate: Certificate
    package let issuer: Certificate
  }

  private struct Entry {
    let question: PendingCheck
    var dueAt: Timestamp
    var lastUse: Timestamp
  }

  private struct State {
    var entries: [Digest: Entry] = [:]
    var revoked: [Digest: Timestamp] = [:]

    mutating func use(_ question: PendingCheck, at now: Timestamp, atMost capacity: Int) -> Timestamp? {
      let fingerprint = question.certificate.fingerprint
      if let known = entries[fingerprint] {
        entries[fingerprint]?.lastUse = max(known.lastUse, now)
      } else {
        if entries.count >= capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
          entries[oldest.key] = nil
        }
        entries[fingerprint] = Entry(question: question, dueAt: now, lastUse: now)
      }
      return revoked[fingerprint]
    }
  }

  private let capacity: Int
  private let state = Mutex(State())

  private static let interval = Interval.hours(12)
  private static let pause = Interval.minutes(5)
  /// The time for which a certificate is checked after its last use.
  private static let unused = Interval.days(2)

  package init(capacity: Int = 256) { self.capacity = capacity }

  package var revoked: [Digest: Timestamp] { state.withLock { $0.revoked } }

  package func learn(_ others: [Digest: Timestamp]) {
    state.withLock { $0.revoked.merge(others, uniquingKeysWith: min) }
  }

  /// Throws if a certificate of `chain` was revoked when the message was signed.
  func check(_ chain: [PendingCheck], signedAt date: Timestamp, now: Timestamp) throws(VerificationError) {
    let ends = state.withLock { state in chain.map { state.use($0, at: now, atMost: capacity) } }
    for (link, end) in zip(chain, ends) {
      guard let end, date >= end else { continue }
      let serialNumber = link.certificate.serialNumber
      throw VerificationError(
        .revoked, "signed at \(date.iso8601), certificate \(serialNumber) was revoked at \(end.iso8601)")
    }
  }

  /// Returns the certificates to check at `now`.
  package func due(at now: Timestamp) -> [PendingCheck] {
    state.withLock { state in
      state.entries = state.entries.filter { now - $0.value.lastUse < Self.unused }
      return state.entries.values.filter {
        $0.dueAt <= now && $0.question.certificate.validity.contains(now.wholeSeconds)
      }.map(\.question)
    }
  }

  /// Stores a responder's status, and returns whether it reports a revocation for the first time.
  ///
  /// A known revocation stays, because an attacker in the network can repeat an older response.
  @discardableResult
  package func note(_ status: OCSPAnswer.Status, of question: PendingCheck, at now: Timestamp) -> Bool {
    let fingerprint = question.certificate.fingerprint
    return state.withLock { state in
      state.entries[fingerprint]?.dueAt = now + Self.interval
      guard case .revoked(let date, _) = status else { return false }
      let known = state.revoked[fingerprint]
      state.revoked[fingerprint] = min(known ?? date, date)
      return known == nil
    }
  }

  /// Records a missing response, so that the check is repeated after a few minutes.
  package func noteFailure(of question: PendingCheck, at now: Timestamp) {
    state.withLock { $0.entries[question.certificate.fingerprint]?.dueAt = now + Self.pause }
  }
}
