@testable import Intake
@testable import Ledger
@testable import Service

/// Written anew, without the secrets in it, a body may be three times as long: each `\n` takes six bytes.
@Suite struct `The search for stored secrets in long bodies` {
  private static let secret = "5ec7e75ec7e75ec7e75ec7e75ec7e75e"
  private static let adapter = Adapter(verifier: SignedDataVerifier(roots: .apple))
  /// Nearly as long as evidence may be.
  private static let long = String(repeating: #"\n"#, count: 2_700_000)

  private func search(_ service: RunningService) -> SecretSearch {
    SecretSearch(
      pool: service.pool, keys: Keyring(current: service.master), adapter: Self.adapter, now: { RunningService.now },
      sleep: { _ in })
  }

  /// Stores messages as they came, each before the secret was registered.
  private func store(
    _ bodies: [String], as kind: InboxMessage.Kind = .evidence, inQuarantine: Bool = false, _ service: RunningService
  ) async throws -> [Digest] {
    let app = try #require(
      try await service.pool.read { session throws(DatabaseError) in try AppTable.all(in: session).first })
    let entries = bodies.map { body in
      let message = InboxMessage(
        kind, Array(body.utf8), app: app.bundleID, claim: Claim(environment: .sandbox), receivedAt: RunningService.now)
      let findings = Findings(app: app.bundleID, environment: .sandbox)
      return inQuarantine
        ? Entry(message, .quarantined(Entry.Refusal(source: .legacy, code: "test", detail: "", claimedApp: nil)))
        : Entry(
          message, .accepted(Entry.Acceptance(message, app: app.id, findings: findings, signedAt: nil, title: "x")))
    }
    for entry in entries { _ = try await Ledger(pool: service.pool).append([entry]) }
    try await service.register(secret: Self.secret)
    return entries.map(\.message.digest)
  }

  private func stored(_ digest: Digest, _ service: RunningService) async throws -> [UInt8]? {
    try await service.pool.read { session throws(DatabaseError) in
      try InboxTable.newest(limit: 1, digestPrefix: digest.bytes, in: session).first?.message.body
    }
  }

  @Test func `takes the secret out where it stands, and goes on`() async throws {
    try await RunningService.with({ $0.searchesStoredSecrets = false }) { service in
      let secret = Self.secret
      let long = #"{"originalTransactionId":"77001","environment":"Sandbox","y":"\#(secret)","x":"\#(Self.long)"}"#
      let bodies = [long, #"{"originalTransactionId":"77002","environment":"Sandbox","y":"\#(secret)"}"#]
      let digests = try await store(bodies, service)
      let summary = try await search(service).run()
      #expect(summary.searched == 2 && summary.changed == 2 && summary.skipped == 0)
      #expect(try await !search(service).isDue())
      for (digest, body) in zip(digests, bodies) {
        #expect(try await stored(digest, service) == Array(body.replacing(secret, with: HiddenSecrets.marker).utf8))
      }
    }
  }

  /// Whether what is too long is changed where it stands; else nothing is kept of it.
  private static let cases: [(members: String, inPlace: Bool)] = [
    (#""originalTransactionId":"77001","y":"SECRET""#, true), (#""originalTransactionId":"77001","SECRET":1"#, true),
    // Spelt in a way that is found in the text alone; a password; a user's name.
    (#""originalTransactionId":"77001","y":"\u0035ec7e75ec7e75ec7e75ec7e75ec7e75e SECRET""#, false),
    (#""originalTransactionId":"77001","y":"SECRET","password":"Recognisable""#, false),
    (#""originalTransactionId":"77001","userId":"a-SECRET""#, false),
    // Nothing can be read without it.
    (#""originalTransactionId":"SECRET""#, false),
  ]

  @Test(arguments: cases)
  func `keeps the body in its place, or nothing of it`(members: String, inPlace: Bool) throws {
    let secret = Self.secret
    let lines = String(repeating: #"\n"#, count: 1_000)
    let text = #"{"environment":"Sandbox",\#(members),"x":"\#(lines)"}"#.replacing("SECRET", with: secret)
    var redaction = StoredRedaction(
      key: MasterKey.generate(), secrets: SecretFilter([Array(secret.utf8)]), adapter: Self.adapter)
    let message = InboxMessage(
      kind: .evidence, body: Array(text.utf8), claim: Claim(environment: .sandbox), receivedAt: RunningService.now)
    let stored = StoredMessage(
      message: message, app: App.ID(1), bundleID: RunningService.app, environment: .sandbox, signedAt: nil, title: "x")
    #expect(try #require(redaction.redacted(.message(stored))).count > 3_000, "it is written anew if there is room")
    redaction.longest = 3_000
    let kept = try #require(redaction.redacted(.message(stored)))
    let short = Array(text.replacing(secret, with: HiddenSecrets.marker).utf8)
    #expect(kept == (inPlace ? short : Tombstone.body(with: [])))
    #expect(redaction.redacted(.message(stored.with(body: kept))) == nil)

    let refused = QuarantinedMessage(
      message: InboxMessage(kind: .evidence, body: Array(text.utf8), claim: nil, receivedAt: RunningService.now),
      source: "legacy", code: "", detail: "", claimedApp: "", replays: 0)
    let set = try #require(redaction.redacted(.refused(refused)))
    #expect(set.count <= 3_000 && set.firstRange(of: Array(secret.utf8)) == nil)
    #expect(set == short || set == Tombstone.body(with: []))
  }

  /// A row may be refused for a limit that nobody here knows of.
  @Test(arguments: [false, true])
  func `skips and counts what cannot be written, and goes on`(inQuarantine: Bool) async throws {
    try await RunningService.with({ $0.searchesStoredSecrets = false }) { service in
      let lines = String(repeating: #"\n"#, count: 20_000)
      let bodies = (0..<3).map { number in
        #"{"notification_type":"X","y":"\#(Self.secret)","n":\#(number),"x":"\#(number == 1 ? lines : "")"}"#
      }
      let digests = try await store(bodies, as: .notification, inQuarantine: inQuarantine, service)
      try await service.pool.read { session throws(DatabaseError) in
        // 65,535 bytes: enough for what came.
        try session.run(
          inQuarantine
            ? "ALTER TABLE quarantine MODIFY body BLOB NOT NULL" : "ALTER TABLE bodies MODIFY body BLOB NOT NULL")
      }
      let usage = try await service.pool.read { session throws(DatabaseError) in
        try QuarantineTable.usage(in: session)[.legacy]?.bytes ?? 0
      }
      let summary = try await search(service).run()
      #expect(summary.searched == 3 && summary.changed == 2 && summary.skipped == 1, "\(summary)")
      #expect(try await !search(service).isDue())
      let told = try await service.pool.read { session throws(DatabaseError) in
        (try SecretSearchTable.unreadable(in: session), try QuarantineTable.usage(in: session)[.legacy]?.bytes ?? 0)
      }
      #expect(told.0 == 1)
      if inQuarantine {
        #expect(told.1 == usage - 2 * (Self.secret.utf8.count - HiddenSecrets.marker.utf8.count))
      } else {
        #expect(try await stored(digests[1], service) == Array(bodies[1].utf8))
      }
    }
  }

  @Test(arguments: [
    (DatabaseError.Code.tooLarge, true), (.other(1406), true), (.other(1118), true), (.deadlock, false),
    (.connectionLost, false), (.other(1114), false), (.column, false),
  ])
  func `ends at any other error`(code: DatabaseError.Code, isOfTheData: Bool) {
    #expect(DatabaseError(code, "").isOfTheData == isOfTheData)
  }
}
