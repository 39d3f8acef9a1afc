import Adapter
import Database
import HTTPClient
import JSON
import Ledger
import RevocationChecks
import Runtime
import Signing
import Simulator
import Support
import Synchronization
import Testing
import Time

/// A simulated App Store whose certificates name its responder, and a process that asks it.
private struct RevocationBench {
  static let bundleID = "com.example.revocation"
  static let now = Milliseconds(1_780_000_000_000)
  private static let receiptPKI = ReceiptPKI.known(at: now)

  let store: RunningAppStore
  let pool: Pool
  let client: HTTPClient
  let clock: SteppedClock
  let log = RecordingLogHandler()

  static func with(
    namesResponder: Bool = true, _ body: @Sendable (RevocationBench) async throws -> Void
  ) async throws {
    let pool = Pool(try await PrivateMariaDB.shared.database())
    try await pool.read { session throws(DatabaseError) in _ = try Migrator().migrate(at: now, in: session) }
    let clock = SteppedClock(at: now)
    var settings = RunningAppStore.Settings()
    settings.receiptPKI = receiptPKI
    settings.namesResponder = namesResponder
    let world = AppStoreWorld(plan: WorldPlan(apps: [.sample(bundleID)]), seed: 1, start: now)
    let store = try RunningAppStore.start(world, settings, clock: clock.clock)
    let client = HTTPClient()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await store.run() }
      let outcome: Result<Void, any Error>
      do {
        outcome = .success(
          try await body(RevocationBench(store: store, pool: pool, client: client, clock: clock)))
      } catch { outcome = .failure(error) }
      await client.shutdown()
      await pool.close()
      group.cancelAll()
      try await group.waitForAll()
      try outcome.get()
    }
  }

  /// The responder has this fault from here on.
  func fault(_ fault: String, value: Int64? = nil) async throws {
    var rule: JSONObject = ["fault": .string(fault), "on": "ocsp", "times": .null]
    if let value { rule["value"] = .integer(value) }
    let answer = try await client.send(
      ClientRequest(method: "POST", url: store.controlURL + "/faults", body: rule.encoded()))
    #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
  }

  func mend() async throws {
    _ = try await client.send(ClientRequest(method: "DELETE", url: store.controlURL + "/faults"))
  }

  func checks(
    _ revocations: Revocations, metrics: MetricsRegistry = MetricsRegistry(), deadline: Interval = .seconds(30),
    pacing: Pacing = .system
  ) -> RevocationChecks {
    RevocationChecks(
      revocations, pool: pool, responder: Responder(client: client, deadline: deadline), metrics: metrics,
      clock: clock.clock, pacing: pacing, logger: Logger(label: "test", level: .debug, handler: log))
  }

  /// Whether something that Apple signs now, or signed then, is taken.
  func take(
    _ revocations: Revocations, signedAt date: Milliseconds? = nil
  ) throws -> Result<Void, VerificationError> {
    let pki = store.store.identity.chains.pki
    let verifier = SignedDataVerifier(roots: TrustedRoots(exactly: [try pki.trustedRoot()]), revocations: revocations)
    let transaction: JSONObject = [
      "originalTransactionId": "2000000000000001", "transactionId": "2000000000000001",
      "bundleId": .string(Self.bundleID), "environment": "Sandbox",
      "signedDate": .integer((date ?? clock.clock.now()).sinceEpoch),
    ]
    let jws = try pki.sign(transaction)
    do throws(VerificationError) {
      _ = try verifier.verifyTransaction(jws, expecting: ExpectedClaims(), now: clock.clock.now())
      return .success(())
    } catch { return .failure(error) }
  }

  func code(_ revocations: Revocations, signedAt date: Milliseconds? = nil) throws -> String {
    switch try take(revocations, signedAt: date) {
    case .success: "taken"
    case .failure(let error): error.code.rawValue
    }
  }
}

@Suite struct `The revocation checks` {
  @Test func `ask once, and every process of the database knows`() async throws {
    try await RevocationBench.with { bench in
      let (first, metrics) = (Revocations(.require), MetricsRegistry())
      #expect(try bench.code(first) == "revocationNotKnown")
      let checks = bench.checks(first, metrics: metrics)
      #expect(try await checks.round() == 2)
      #expect(try bench.code(first) == "taken")
      #expect(try await checks.round() == 0)
      let text = String(decoding: metrics.prometheusText(), as: UTF8.self)
      #expect(text.contains("switchyard_ocsp_checks_total{outcome=\"good\"} 2"))
      let second = Revocations(.require)
      try await bench.checks(second).recall()
      #expect(try bench.code(second) == "taken")
      #expect(second.due(at: bench.clock.clock.now()).isEmpty)
    }
  }

  @Test func `refuse what a revoked certificate signed since, loudly, and for ever`() async throws {
    try await RevocationBench.with { bench in
      try await bench.fault("revoked")
      let revocations = Revocations(.prefer)
      #expect(try bench.code(revocations) == "taken", "nobody knew")
      try await bench.checks(revocations).round()
      #expect(try bench.code(revocations) == "revoked")
      #expect(try bench.code(revocations, signedAt: RevocationBench.now - .days(2)) == "taken")
      #expect(bench.log.records.filter { "\($0)".contains("was revoked") }.count == 2, "leaf and intermediate")
      // Another process, and a responder that has forgotten.
      try await bench.mend()
      bench.clock.advance(by: .days(1))
      let other = Revocations(.off)
      let checks = bench.checks(other)
      try await checks.recall()
      #expect(try bench.code(other) == "revoked")
      try await bench.checks(revocations).round()
      #expect(try bench.code(revocations) == "revoked")
    }
  }

  @Test func `leave it to the policy when nobody vouches`() async throws {
    try await RevocationBench.with { bench in
      for (fault, value, outcome) in [
        ("unknown", nil, "unknown"), ("tryLater", nil, "unsuccessful"), ("stale", nil, "stale"),
        ("foreignSigner", nil, "untrustedResponder"), ("serverError", Int64(503), "status"),
        ("stalled", 60_000, "timedOut"), ("malformed", nil, "malformedResponse"),
      ] {
        try await bench.mend()
        try await bench.fault(fault, value: value)
        for policy in [RevocationPolicy.require, .prefer] {
          let (revocations, metrics) = (Revocations(policy), MetricsRegistry())
          let isTaken = policy == .prefer
          #expect(try bench.code(revocations) == (isTaken ? "taken" : "revocationNotKnown"))
          try await bench.checks(
            revocations, metrics: metrics, deadline: .milliseconds(fault == "stalled" ? 200 : 60_000)
          )
          .round()
          #expect(try bench.code(revocations) == (isTaken ? "taken" : "revocationNotKnown"), "\(fault)")
          #expect(revocations.unvouchedCount == (isTaken ? 2 : 0))
          let text = String(decoding: metrics.prometheusText(), as: UTF8.self)
          #expect(text.contains("switchyard_ocsp_checks_total{outcome=\"\(outcome)\"} 2"), "\(text)")
        }
      }
    }
  }

  @Test func `keep to an answer that still counts while the responder is down`() async throws {
    try await RevocationBench.with { bench in
      let revocations = Revocations(.require)
      _ = try bench.code(revocations)
      try await bench.checks(revocations).round()
      try await bench.fault("serverError", value: 500)
      bench.clock.advance(by: .hours(10))
      try await bench.checks(revocations).round()
      #expect(try bench.code(revocations) == "taken")
      bench.clock.advance(by: .hours(3))
      #expect(try bench.code(revocations) == "revocationNotKnown")
      #expect(try bench.code(revocations, signedAt: RevocationBench.now) == "taken", "vouched for already")
      try await bench.mend()
      bench.clock.advance(by: .minutes(5))
      _ = try bench.code(revocations)
      try await bench.checks(revocations).round()
      #expect(try bench.code(revocations) == "taken")
    }
  }

  @Test func `ask nobody about a certificate that names no responder, and say so once`() async throws {
    try await RevocationBench.with(namesResponder: false) { bench in
      for policy in [RevocationPolicy.require, .prefer] {
        let (revocations, metrics) = (Revocations(policy), MetricsRegistry())
        let outcome = policy == .require ? "noResponderNamed" : "taken"
        #expect(try bench.code(revocations) == outcome)
        let checks = bench.checks(revocations, metrics: metrics)
        #expect(try await checks.round() == 2, "leaf and intermediate")
        for _ in 0..<3 {
          bench.clock.advance(by: .hours(1))
          try await checks.recall()
          #expect(try bench.code(revocations) == outcome)
          #expect(try await checks.round() == 0)
        }
        let text = String(decoding: metrics.prometheusText(), as: UTF8.self)
        #expect(text.contains("switchyard_ocsp_checks_total{outcome=\"noResponder\"} 2"), "\(text)")
      }
      #expect(bench.log.records.filter { "\($0)".contains("names no OCSP responder") }.count == 4)
      let (known, unvouchable) = try await bench.pool.read { session throws(DatabaseError) in
        (try CertificateTable.all(in: session), try CertificateTable.unvouchable(in: session))
      }
      #expect(known.isEmpty && unvouchable.count == 2)
    }
  }

  @Test func `ask again before each answer ends, life after life`() async throws {
    try await RevocationBench.with { bench in
      let (revocations, metrics) = (Revocations(.require), MetricsRegistry())
      #expect(try bench.code(revocations) == "revocationNotKnown")
      let days: Int64 = 4
      let codes = Mutex<[String]>([])
      // Every pause takes ten minutes, and what is stored is read between any two rounds.
      let pacing = Pacing(
        elapsed: { bench.clock.clock.now() - RevocationBench.now },
        sleep: { _ in
          let code = try bench.code(revocations)
          codes.withLock { $0.append(code) }
          guard bench.clock.clock.now() - RevocationBench.now < .days(days) else { return await untilCancelled() }
          bench.clock.advance(by: .minutes(10))
        }, random: { $0 / 2 })
      let checks = bench.checks(revocations, metrics: metrics, pacing: pacing)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await checks.run() }
        #expect(await eventually(within: .minutes(2)) { codes.withLock { $0.count } == days * 144 + 1 })
        group.cancelAll()
        try await group.waitForAll()
      }
      #expect(Set(codes.withLock { $0 }) == ["taken"])
      let good = String(decoding: metrics.prometheusText(), as: UTF8.self).split(separator: "\n")
        .first { $0.hasPrefix("switchyard_ocsp_checks_total{outcome=\"good\"}") }
      let asked = try #require(good.flatMap { Int($0.split(separator: " ").last ?? "") })
      // Two certificates, at three quarters of the 12 hours.
      #expect((20...24).contains(asked), "\(asked)")
    }
  }

  @Test func `ask about every certificate although the database takes nothing, and then once more`() async throws {
    try await RevocationBench.with { bench in
      let (revocations, metrics) = (Revocations(.require), MetricsRegistry())
      _ = try bench.code(revocations)
      let checks = bench.checks(revocations, metrics: metrics)
      func rename(_ statement: SQL) async throws {
        try await bench.pool.read { session throws(DatabaseError) in _ = try session.execute(statement) }
      }
      try await rename("RENAME TABLE certificates TO mislaid")
      await #expect(throws: DatabaseError.self) { try await checks.round() }
      #expect(try bench.code(revocations) == "taken", "both are known here")
      #expect(try await checks.round() == 0)
      try await rename("RENAME TABLE mislaid TO certificates")
      bench.clock.advance(by: .minutes(1))
      #expect(try await checks.round() == 2)
      let other = Revocations(.require)
      try await bench.checks(other).recall()
      #expect(try bench.code(other) == "taken")
    }
  }
}
