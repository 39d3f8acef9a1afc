import Synchronization
package import Time

/// What is known of the certificates in use: what the verifier looks up, and what is to be asked.
///
/// It asks nobody: a service does, beside the messages, and notes the answers here. Bounded; only chains under good
/// signatures get in, so that no stranger can fill it.
package final class Revocations: Sendable {
  /// A certificate about which its issuer's responder is to be asked.
  package struct Question: Sendable {
    package let certificate: Certificate
    package let issuer: Certificate
  }

  private struct Entry {
    var question: Question?
    var standing: CertificateStanding?
    var dueAt: Milliseconds
    var lastUse: Milliseconds
    var failures = 0
    /// Somebody is asking right now.
    var isAsked = false
  }

  package let policy: RevocationPolicy
  private let capacity: Int
  private let entries = Mutex<[Digest: Entry]>([:])
  private let unvouched = Mutex<UInt64>(0)

  /// What nobody used for so long is not asked about any more.
  private static let unused = Interval.days(2)
  private static let shortestRest = Interval.minutes(1)
  private static let longestRest = Interval.hours(12)
  private static let longestPause = Interval.minutes(5)

  package init(_ policy: RevocationPolicy, capacity: Int = 256) {
    self.policy = policy
    self.capacity = capacity
  }

  /// How many messages were accepted although nobody vouched for their certificates.
  package var unvouchedCount: UInt64 { unvouched.withLock { $0 } }
  /// Certificates that are known to be revoked.
  package var revoked: [CertificateStanding] {
    entries.withLock { $0.values.compactMap(\.standing).filter { $0.revokedAt != nil } }
  }

  /// Refuses a message that was signed after a certificate of its chain was revoked, or as the policy says.
  func check(_ chain: [Question], signedAt date: Milliseconds, now: Milliseconds) throws(VerificationError) {
    // All of them before any is judged, so that what is refused now is asked about as a whole.
    let standings = chain.map { look(up: $0, now) }
    var isUnvouched = false
    for (link, standing) in zip(chain, standings) {
      switch policy.verdict(on: link.certificate, standing, signedAt: date, now: now) {
      case .vouched, .history: continue
      case .unvouched: isUnvouched = true
      case .refused(let reason): throw reason
      }
    }
    if isUnvouched, policy != .off { unvouched.withLock { $0 += 1 } }
  }

  private func look(up link: Question, _ now: Milliseconds) -> CertificateStanding? {
    let fingerprint = link.certificate.fingerprint
    return entries.withLock { entries in
      var entry = entries[fingerprint] ?? Entry(dueAt: now, lastUse: now)
      entry.question = entry.question ?? link
      entry.lastUse = max(entry.lastUse, now)
      let isNew = entries.updateValue(entry, forKey: fingerprint) == nil
      if isNew { Self.shrink(&entries, to: capacity) }
      return entry.standing
    }
  }

  /// The longest unused goes first; a revocation is the last to be forgotten.
  private static func shrink(_ entries: inout [Digest: Entry], to capacity: Int) {
    guard entries.count > capacity else { return }
    func order(_ entry: Entry) -> (Int, Milliseconds) { (entry.standing?.revokedAt == nil ? 0 : 1, entry.lastUse) }
    let oldest = entries.min { order($0.value) < order($1.value) }
    if let oldest { entries[oldest.key] = nil }
  }

  /// What is to be asked now; each once, until it is answered or given up by `note`.
  package func due(at now: Milliseconds) -> [Question] {
    guard policy != .off else { return [] }
    return entries.withLock { entries in
      entries.compactMap { fingerprint, entry in
        guard let question = entry.question, !entry.isAsked, entry.dueAt <= now, now - entry.lastUse < Self.unused,
          question.certificate.validity.contains(now.wholeSeconds)
        else { return nil }
        entries[fingerprint]?.isAsked = true
        return question
      }
    }
  }

  /// Takes what a responder said; what counts now.
  @discardableResult
  package func note(_ standing: CertificateStanding, at now: Milliseconds) -> CertificateStanding {
    entries.withLock { entries in
      var entry = entries[standing.certificate] ?? Entry(dueAt: now, lastUse: now)
      let believed = entry.standing?.followed(by: standing) ?? standing
      entry.standing = believed
      entry.isAsked = false
      entry.failures = 0
      // A responder that repeats what it said is not asked at once again.
      entry.dueAt = max(now + Self.shortestRest, Self.dueAt(believed, heardAt: now))
      entries[standing.certificate] = entry
      Self.shrink(&entries, to: capacity)
      return believed
    }
  }

  /// Takes that the certificate names nobody who could be asked: it is not asked about again.
  package func noteNobodyToAsk(about certificate: Certificate) {
    entries.withLock { $0[certificate.fingerprint]?.dueAt = Milliseconds(.max) }
  }

  /// Takes what another process heard; what counts now.
  ///
  /// Read again and again: what is believed already changes nothing, or it would put off the next question for ever.
  @discardableResult
  package func recall(_ standing: CertificateStanding, at now: Milliseconds) -> CertificateStanding {
    entries.withLock { entries in
      var entry = entries[standing.certificate] ?? Entry(dueAt: now, lastUse: now)
      let believed = entry.standing?.followed(by: standing) ?? standing
      guard believed != entry.standing else { return believed }
      entry.standing = believed
      entry.dueAt = Self.dueAt(believed, heardAt: now)
      entries[standing.certificate] = entry
      Self.shrink(&entries, to: capacity)
      return believed
    }
  }

  /// Well before it ends: an hour without a responder then goes unnoticed.
  private static func dueAt(_ standing: CertificateStanding, heardAt: Milliseconds) -> Milliseconds {
    let life = standing.nextUpdate - standing.thisUpdate
    return min(standing.thisUpdate + .milliseconds(life.milliseconds / 4 * 3), heardAt + longestRest)
  }

  /// Takes that what was found out could not be kept for other processes: it is asked again soon.
  package func noteUnkept(_ question: Question, at now: Milliseconds) {
    entries.withLock { entries in
      guard var entry = entries[question.certificate.fingerprint] else { return }
      entry.isAsked = false
      entry.dueAt = min(entry.dueAt, now + Self.shortestRest)
      entries[question.certificate.fingerprint] = entry
    }
  }

  /// Takes that there was no answer: it is asked again, ever more rarely.
  package func noteFailure(of question: Question, at now: Milliseconds) {
    entries.withLock { entries in
      guard var entry = entries[question.certificate.fingerprint] else { return }
      entry.isAsked = false
      entry.failures = min(entry.failures + 1, 20)
      entry.dueAt = now + min(Self.longestPause, .seconds(1 << Int64(min(entry.failures, 10))))
      entries[question.certificate.fingerprint] = entry
    }
  }
}
