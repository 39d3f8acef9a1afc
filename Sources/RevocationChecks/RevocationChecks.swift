package import Database
import Ledger
package import Runtime
package import Signing
package import Time

/// Asks about the certificates in use, beside the messages, and remembers what it hears for every process.
package struct RevocationChecks: Service {
  private let revocations: Revocations
  private let pool: Pool
  private let responder: Responder
  private let metrics: MetricsRegistry
  private let checks: MetricFamily<Counter>
  private let clock: WallClock
  private let pacing: Pacing
  private let logger: Logger

  private static let pause = Interval.milliseconds(250)
  /// How often what other processes heard is read: a revocation reaches all of them within it.
  private static let exchange = Interval.seconds(30)

  package init(
    _ revocations: Revocations, pool: Pool, responder: Responder, metrics: MetricsRegistry, clock: WallClock,
    pacing: Pacing = .system, logger: Logger
  ) {
    self.revocations = revocations
    self.pool = pool
    self.responder = responder
    self.metrics = metrics
    self.clock = clock
    self.pacing = pacing
    self.logger = logger
    checks = metrics.counter(
      "switchyard_ocsp_checks_total", help: "Questions to OCSP responders, by what was said, or why nothing was.",
      labels: ["outcome"])
    metrics.gauge(
      "switchyard_ocsp_unvouched_messages",
      help: "Signed messages accepted since the start although no responder had vouched for their certificates."
    ) { Double(revocations.unvouchedCount) }
    metrics.gauge("switchyard_ocsp_revoked_certificates", help: "Certificates in use that were revoked.") {
      Double(revocations.revoked.count)
    }
  }

  package func run() async throws {
    var readAt: Interval?
    while !Task.isCancelled {
      do {
        if readAt.map({ pacing.elapsed().milliseconds - $0.milliseconds >= Self.exchange.milliseconds }) ?? true {
          try await recall()
          readAt = pacing.elapsed()
        }
        try await round()
      } catch {
        if !Task.isCancelled {
          logger.warning("revocations could not be kept; it is tried again", metadata: ["error": "\(error)"])
        }
      }
      try? await pacing.sleep(Self.pause)
    }
  }

  /// Takes what this or other processes heard before.
  package func recall() async throws(DatabaseError) {
    let known = try await pool.read { session throws(DatabaseError) in try CertificateTable.all(in: session) }
    for standing in known {
      tell(standing) { revocations.recall(standing, at: clock.now()) }
    }
  }

  /// Asks what is due, one after the other; how many questions that was.
  ///
  /// All of them, also when the database takes none: a question that nobody settles is never asked again.
  @discardableResult
  package func round() async throws(DatabaseError) -> Int {
    let due = revocations.due(at: clock.now())
    var failure: DatabaseError?
    for question in due {
      do throws(DatabaseError) { try await ask(question) } catch {
        revocations.noteUnkept(question, at: clock.now())
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return due.count
  }

  private func ask(_ question: Revocations.Question) async throws(DatabaseError) {
    let standing: CertificateStanding
    do throws(Responder.Failure) {
      standing = try await responder.ask(question, clock: clock)
    } catch .noResponder {
      return try await noteNobodyToAsk(about: question.certificate)
    } catch {
      revocations.noteFailure(of: question, at: clock.now())
      checks[error.word].increment()
      logger.warning(
        "an OCSP responder gave no answer; messages are taken as --ocsp \(revocations.policy.rawValue) says",
        metadata: ["certificate": "\(question.certificate.serialNumber)", "reason": "\(error)"])
      return
    }
    let now = clock.now()
    let believed = tell(standing) { revocations.note(standing, at: now) }
    switch standing.status {
    case .good: checks["good"].increment()
    case .revoked: checks["revoked"].increment()
    case .unknown: checks["unknown"].increment()
    }
    try await pool.transaction(replayable: true) { session throws(DatabaseError) in
      try CertificateTable.note(believed, at: now, in: session)
    }
  }

  /// Nothing to ask: said once, kept for `doctor`, and not tried again.
  private func noteNobodyToAsk(about certificate: Certificate) async throws(DatabaseError) {
    revocations.noteNobodyToAsk(about: certificate)
    checks[Responder.Failure.noResponder.word].increment()
    logger.warning(
      "a certificate names no OCSP responder; messages are taken as --ocsp \(revocations.policy.rawValue) says",
      metadata: ["certificate": "\(certificate.serialNumber)"])
    let (fingerprint, serialNumber, now) = (certificate.fingerprint, certificate.serialNumber, clock.now())
    try await pool.transaction(replayable: true) { session throws(DatabaseError) in
      try CertificateTable.noteNobodyToAsk(about: fingerprint, serialNumber: serialNumber, at: now, in: session)
    }
  }

  /// Says so once for each process that hears of a revocation.
  @discardableResult
  private func tell(_ standing: CertificateStanding, _ take: () -> CertificateStanding) -> CertificateStanding {
    let isNews = standing.revokedAt != nil && !revocations.revoked.contains { $0.certificate == standing.certificate }
    let believed = take()
    if isNews, let date = believed.revokedAt {
      logger.error(
        "a certificate that signs for Apple was revoked; what it signed since is refused, see `switchyard doctor`",
        metadata: ["certificate": "\(standing.serialNumber)", "revokedAt": "\(date.iso8601)"])
    }
    return believed
  }
}
