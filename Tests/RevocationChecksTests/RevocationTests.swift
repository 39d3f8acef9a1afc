import Database
import HTTPClient
import JSON
import Ledger
import Runtime
import Signing
import Simulator
import Support
import Testing
import Time

@testable import RevocationChecks

/// A simulated App Store whose certificates name its responder, and a process that asks it.
private struct RevocationBench {
  static let bundleID = "com.example.revocation"
  static let now = Timestamp(1_780_000_000_000)
  private static let receiptPKI = ReceiptPKI.known(at: now)

  let store: RunningAppStore
  let client: HTTPClient
  let clock: SteppedClock
  let pool: Pool
  let log = RecordingLogHandler()

  static func with(
    namesResponder: Bool = true, _ body: @Sendable (RevocationBench) async throws -> Void
  ) async throws {
    let clock = SteppedClock(at: now)
    var settings = RunningAppStore.Settings()
    settings.receiptPKI = receiptPKI
    settings.namesResponder = namesResponder
    let world = AppStoreWorld(plan: WorldPlan(apps: [.sample(bundleID)]), seed: 1, start: now)
    let store = try RunningAppStore.start(world, settings, clock: clock.clock)
    let client = HTTPClient()
    let pool = Pool(try await PrivateMariaDB.shared.database())
    _ = try await pool.read { session throws(DatabaseError) in try Migrator().migrate(at: now, in: session) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await store.run() }
      let outcome: Result<Void, any Error>
      do {
        outcome = .success(
          try await body(RevocationBench(store: store, client: client, clock: clock, pool: pool)))
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
    _ revocations: RevocationCache, metrics: MetricsRegistry = MetricsRegistry(), deadline: Interval = .seconds(30)
  ) -> RevocationChecker {
    RevocationChecker(
      revocations, responder: Responder(client: client, deadline: deadline), pool: pool, metrics: metrics,
      clock: clock.clock, logger: Logger(label: "test", level: .debug, handler: log))
  }

  /// Whether something that Apple signs now, or signed then, is taken.
  func take(
    _ revocations: RevocationCache, signedAt date: Timestamp? = nil
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

  func code(_ revocations: RevocationCache, signedAt date: Timestamp? = nil) throws -> String {
    switch try take(revocations, signedAt: date) {
    case .success: "taken"
    case .failure(let error): error.code.rawValue
    }
  }
}

@Suite struct `The revocation checks` {
  @Test func `ask twice a day`() async throws {
    try await RevocationBench.with { bench in
      let (revocations, metrics) = (RevocationCache(), MetricsRegistry())
      let code = try bench.code(revocations)
      #expect(code == "taken")
      let checks = bench.checks(revocations, metrics: metrics)
      #expect(await checks.round() == 2)
      #expect(try bench.code(revocations) == "taken")
      #expect(await checks.round() == 0)
      bench.clock.advance(by: .hours(12))
      #expect(await checks.round() == 2)
      let text = String(decoding: metrics.prometheusText(), as: UTF8.self)
      #expect(text.contains("switchyard_ocsp_checks_total{outcome=\"good\"} 4"))
    }
  }

  @Test func `refuse what a revoked certificate signed since, loudly`() async throws {
    try await RevocationBench.with { bench in
      try await bench.fault("revoked")
      let (revocations, metrics) = (RevocationCache(), MetricsRegistry())
      #expect(try bench.code(revocations) == "taken", "nobody knew")
      let checks = bench.checks(revocations, metrics: metrics)
      await checks.round()
      #expect(try bench.code(revocations) == "revoked")
      #expect(try bench.code(revocations, signedAt: RevocationBench.now - .days(2)) == "taken")
      try await bench.mend()
      bench.clock.advance(by: .days(1))
      await checks.round()
      #expect(try bench.code(revocations) == "revoked")
      #expect(bench.log.records.filter { "\($0)".contains("was revoked") }.count == 2, "leaf and intermediate")
      let text = String(decoding: metrics.prometheusText(), as: UTF8.self)
      #expect(text.contains("switchyard_ocsp_revoked_certificates 2"), "\(text)")
    }
  }

  @Test func `accept what no responder vouches for, and count it`() async throws {
    try await RevocationBench.with { bench in
      for (fault, value, outcome) in [
        ("unknown", nil, "unknown"), ("tryLater", nil, "unsuccessful"), ("stale", nil, "stale"),
        ("foreignSigner", nil, "untrustedResponder"), ("serverError", Int64(503), "status"),
        ("stalled", 60_000, "timedOut"), ("malformed", nil, "malformedResponse"),
      ] {
        try await bench.mend()
        try await bench.fault(fault, value: value)
        let (revocations, metrics) = (RevocationCache(), MetricsRegistry())
        #expect(try bench.code(revocations) == "taken")
        let deadline = Interval.milliseconds(fault == "stalled" ? 200 : 60_000)
        await bench.checks(revocations, metrics: metrics, deadline: deadline).round()
        #expect(try bench.code(revocations) == "taken", "\(fault)")
        let text = String(decoding: metrics.prometheusText(), as: UTF8.self)
        #expect(text.contains("switchyard_ocsp_checks_total{outcome=\"\(outcome)\"} 2"), "\(text)")
      }
    }
  }

  @Test func `ask nobody about a certificate that names no responder`() async throws {
    try await RevocationBench.with(namesResponder: false) { bench in
      let (revocations, metrics) = (RevocationCache(), MetricsRegistry())
      let code = try bench.code(revocations)
      #expect(code == "taken")
      let checks = bench.checks(revocations, metrics: metrics)
      #expect(await checks.round() == 2, "leaf and intermediate")
      bench.clock.advance(by: .hours(1))
      #expect(await checks.round() == 0)
      let text = String(decoding: metrics.prometheusText(), as: UTF8.self)
      #expect(text.contains("switchyard_ocsp_checks_total{outcome=\"noResponder\"} 2"), "\(text)")
    }
  }

  @Test func `refuse while the service runs`() async throws {
    try await RevocationBench.with { bench in
      let revocations = RevocationCache()
      try await bench.fault("revoked")
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await bench.checks(revocations).run() }
        #expect(try bench.code(revocations) == "taken")
        #expect(await eventually(within: .minutes(1)) { revocations.revoked.count == 2 })
        group.cancelAll()
        try await group.waitForAll()
      }
      #expect(try bench.code(revocations) == "revoked")
    }
  }

  @Test func `tell every process what one of them learned, also after a restart`() async throws {
    try await RevocationBench.with { bench in
      let (first, second) = (RevocationCache(), RevocationCache())
      for revocations in [first, second] { #expect(try bench.code(revocations) == "taken") }
      await bench.checks(second).round()
      try await bench.fault("revoked")
      await bench.checks(first).round()
      await bench.checks(first).exchange()
      await bench.checks(second).exchange()
      #expect(try bench.code(second) == "revoked")
      try await bench.mend()
      let restarted = RevocationCache()
      await bench.checks(restarted).exchange()
      #expect(try bench.code(restarted) == "revoked")
      #expect(restarted.revoked.count == 2)
    }
  }
}
