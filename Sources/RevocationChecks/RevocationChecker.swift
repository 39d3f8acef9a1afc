package import Database
import Ledger
package import Runtime
package import Signing
package import Time

/// Asks twice a day whether the certificates in use were revoked, and shares with the other processes what is known.
package struct RevocationChecker: Service {
  private let revocations: RevocationCache
  private let responder: Responder
  private let pool: Pool
  private let checks: MetricFamily<Counter>
  private let clock: WallClock
  private let logger: Logger

  private static let pause = Duration.seconds(1)
  private static let roundsBetweenExchanges = 30

  package init(
    _ revocations: RevocationCache, responder: Responder, pool: Pool, metrics: MetricsRegistry, clock: WallClock,
    logger: Logger
  ) {
    self.revocations = revocations
    self.responder = responder
    self.pool = pool
    self.clock = clock
    self.logger = logger
    checks = metrics.counter(
      "switchyard_ocsp_checks_total", help: "OCSP requests, by status or by the reason of the failure.",
      labels: ["outcome"])
    metrics.gauge("switchyard_ocsp_revoked_certificates", help: "Certificates in use that were revoked.") {
      Double(revocations.revoked.count)
    }
  }

  package func run() async throws {
    var rounds = 0
    while !Task.isCancelled {
      if rounds % Self.roundsBetweenExchanges == 0 { await exchange() }
      await round()
      rounds += 1
      try? await Task.sleep(for: Self.pause)
    }
  }

  /// Writes the revocations that only this process knows, and reads those of the other processes.
  func exchange() async {
    do {
      let (own, now) = (revocations.revoked, clock.now())
      let all = try await pool.transaction { session throws(DatabaseError) in
        let noted = try RevokedCertificateTable.all(in: session)
        for (fingerprint, date) in own where noted[fingerprint].map({ date < $0 }) ?? true {
          try RevokedCertificateTable.note(fingerprint, since: date, at: now, in: session)
        }
        return noted
      }
      revocations.learn(all)
    } catch {
      guard !Task.isCancelled else { return }
      logger.warning("revoked certificates were not shared with other processes", metadata: ["error": "\(error)"])
    }
  }

  /// Asks about the certificates that are due, one after the other, and returns their number.
  @discardableResult
  package func round() async -> Int {
    await responder.ask(revocations, clock: clock) { question, outcome, isNews in
      let serialNumber = question.certificate.serialNumber
      switch outcome {
      case .success(let status):
        checks[status.word].increment()
        if isNews {
          await exchange()
          logger.error(
            "a certificate that signs for Apple was revoked; what it signed since is refused",
            metadata: ["certificate": "\(serialNumber)", "answer": "\(status.words)"])
        }
      case .failure(let failure):
        checks[failure.word].increment()
        logger.warning(
          "an OCSP responder gave no answer; messages are accepted",
          metadata: ["certificate": "\(serialNumber)", "reason": "\(failure)"])
      }
    }
  }
}

extension OCSPAnswer.Status {
  /// A short word for metrics.
  fileprivate var word: String {
    switch self {
    case .good: "good"
    case .revoked: "revoked"
    case .unknown: "unknown"
    }
  }

  package var words: String {
    switch self {
    case .good: "good"
    case .revoked(let date, _): "revoked at \(date.iso8601)"
    case .unknown: "its responder does not know it"
    }
  }
}
