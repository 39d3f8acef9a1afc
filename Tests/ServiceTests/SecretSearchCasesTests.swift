@testable import Intake
@testable import Service

/// What the search for stored secrets must leave alone, and what must not stop it.
@Suite struct `The search for stored secrets, case by case` {
  private static let secret = "5ec7e75ec7e75ec7e75ec7e75ec7e75e"
  private static let marker = Array(HiddenSecrets.marker.utf8)

  private func with(_ body: (RunningService) async throws -> Void) async throws {
    try await RunningService.with({ $0.searchesStoredSecrets = false }, body)
  }

  private static let adapter = Adapter(verifier: SignedDataVerifier(roots: .apple))

  private func search(
    _ service: RunningService, keys: Keyring? = nil, sleep: @escaping @Sendable (Interval) async -> Void = { _ in }
  ) -> SecretSearch {
    SecretSearch(
      pool: service.pool, keys: keys ?? Keyring(current: service.master), adapter: Self.adapter,
      now: { RunningService.now }, sleep: sleep)
  }

  /// Stores a message as an earlier build did: as it came.
  private func store(
    _ body: [UInt8], as kind: InboxMessage.Kind = .evidence, _ service: RunningService
  ) async throws -> Digest {
    let app = try #require(
      try await service.pool.read { session throws(DatabaseError) in try AppTable.all(in: session).first })
    let message = InboxMessage(
      kind, body, app: app.bundleID, claim: Claim(environment: .sandbox), receivedAt: RunningService.now)
    let findings = Findings(app: app.bundleID, environment: .sandbox)
    let entry = Entry(
      message,
      .accepted(Entry.Acceptance(message, app: app.id, findings: findings, signedAt: nil, title: "\(kind)")))
    #expect(try await Ledger(pool: service.pool).append([entry]) == [.stored])
    return message.digest
  }

  private func stored(_ digest: Digest, _ service: RunningService) async throws -> [UInt8]? {
    try await service.pool.read { session throws(DatabaseError) in
      try InboxTable.newest(limit: 1, digestPrefix: digest.bytes, in: session).first?.message.body
    }
  }

  private func rebuild(_ service: RunningService) async throws -> Rebuild.Summary {
    try await Rebuild(service.database) { try Self.adapter.findings(of: $0) }
      .run(now: RunningService.now + .seconds(1))
  }

  private func unopened(_ service: RunningService) async throws -> Int {
    try await service.pool.read { session throws(DatabaseError) in try SecretSearchTable.unopened(in: session).count }
  }

  /// An earlier build took bodies of any number of values: a rebuild must not end at one.
  @Test func `a body of more values than are taken today is rebuilt, and its secret put back`() async throws {
    try await with { service in
      let body: JSONObject = [
        "notification_type": "DID_RENEW", "bid": .string(RunningService.app), "environment": "Sandbox",
        "unified_receipt": [
          "status": 0, "environment": "Sandbox",
          "latest_receipt_info": [
            [
              "product_id": "monthly", "transaction_id": "1", "original_transaction_id": "1",
              "purchase_date_ms": "1770000000000", "expires_date_ms": "1790000000000",
            ]
          ],
        ],
        "x": .array(Array(repeating: 0, count: 200_000)),
      ]
      _ = try await store(body.encoded(), as: .notification, service)
      let rebuilt = try await rebuild(service)
      #expect(rebuilt.messages == 1 && rebuilt.skipped == 0)
      var withSecret = body
      withSecret["password"] = .string(Self.secret)
      let (received, secret) = (withSecret.encoded(), Array(Self.secret.utf8))
      let short = LegacyPassword.redacted(
        received, limits: .stored, key: service.master, secrets: SecretFilter([secret]))
      #expect(short != received)
      let keys = Keyring(current: service.master)
      #expect(LegacyPassword.restored(short, secrets: [secret], keys: keys)?.body == received)
    }
  }

  /// Many apps name their products by SHA-256 or SHA-1.
  @Test(arguments: [InboxMessage.Kind.verifyReceiptAnswer, .apiAnswer, .evidence])
  func `5,000 product ids of hexadecimal digits stay byte for byte as received`(kind: InboxMessage.Kind) async throws {
    try await with { service in
      try await service.register(secret: Self.secret)
      let rows = (0..<5_000).map { number -> JSONValue in
        [
          "product_id": .string(Digest.sha256(Array("\(number)".utf8)).hex), "transaction_id": .string("\(number)"),
          "original_transaction_id": "1", "purchase_date_ms": "1770000000000",
        ]
      }
      let answer: JSONObject = [
        "status": 0, "environment": "Sandbox", "receipt": ["bundle_id": .string(RunningService.app), "in_app": []],
        "latest_receipt_info": .array(rows),
      ]
      let body = answer.encoded()
      let digest = try await store(body, as: kind, service)
      let summary = try await search(service).run()
      #expect(summary.searched == 1 && summary.changed == 0)
      #expect(try await stored(digest, service) == body)
    }
  }

  @Test func `an id that is a secret leaves nothing to read, and a rebuild goes on without it`() async throws {
    try await with { service in
      let bare: JSONObject = ["originalTransactionId": .string(Self.secret), "environment": "Sandbox"]
      let taken = try await service.post("/v1/evidence", bare.encoded(), token: service.token)
      #expect(taken.body["status"] == "stored", "\(taken)")
      let other: JSONObject = ["originalTransactionId": "77001", "environment": "Sandbox"]
      _ = try await service.post("/v1/evidence", other.encoded(), token: service.token)
      try await service.register(secret: Self.secret)
      #expect(try await search(service).run().changed == 1)
      let summary = try await rebuild(service)
      #expect(summary.messages == 2 && summary.skipped == 1)
      let messages = try await service.pool.read { session throws(DatabaseError) in
        try InboxTable.newest(limit: 9, digestPrefix: nil, in: session).map(\.message)
      }
      let message = try #require(messages.first { Tombstone.remains(in: $0.body) != nil })
      let (digest, body) = (message.digest, message.body)
      #expect(body.firstRange(of: Array(Self.secret.utf8)) == nil)
      let remains = try #require(Tombstone.remains(in: body))
      #expect(remains.firstRange(of: Self.marker) != nil)
      // Nobody can hand in one.
      #expect(try await service.post("/v1/evidence", body, token: service.token).status == 400)
      // What is left is searched like everything else.
      try await service.register(secret: "0ddba110ddba110ddba110ddba110ddb", name: "later")
      #expect(try await search(service).run().changed == 0)
      #expect(try await stored(digest, service) == body)
    }
  }

  /// Its master key is gone for good.
  @Test func `a retired secret that does not open stops nothing, and is searched for once it opens`() async throws {
    try await with { service in
      let lost = MasterKey.generate()
      try await service.pool.transaction { session throws(DatabaseError) in
        guard let app = try AppTable.all(in: session).first else { throw DatabaseError(.column, "no app") }
        try CredentialTable.put(
          Array("0ddba110ddba110ddba110ddba110ddb".utf8), kind: .sharedSecret, name: "lost", issuer: "", of: app,
          sealedWith: Keyring(current: lost), at: RunningService.now, in: session)
        _ = try CredentialTable.retire("lost", kind: .sharedSecret, of: app, at: RunningService.now, in: session)
      }
      try await service.register(secret: Self.secret)
      let digest = try await store(Array("{\"a\":\"x\(Self.secret)\"}".utf8), service)
      #expect(try await search(service).run().changed == 1)
      #expect(try await stored(digest, service) == Array("{\"a\":\"x\(HiddenSecrets.marker)\"}".utf8))
      #expect(try await unopened(service) == 1)
      #expect(try await !search(service).isDue())
      #expect(try await search(service).missed().isEmpty)

      let whole = search(service, keys: Keyring(current: service.master, previous: [lost]))
      #expect(try await whole.missed().count == 1)
      let held = try await store(Array("{\"a\":\"0ddba110ddba110ddba110ddba110ddb\"}".utf8), service)
      try await whole.restart()
      #expect(try await whole.run().changed == 1)
      #expect(try await stored(held, service) == Array("{\"a\":\"\(HiddenSecrets.marker)\"}".utf8))
      #expect(try await unopened(service) == 0)
    }
  }

  @Test func `a row that cannot be read stops nothing`() async throws {
    try await with { service in
      try await service.register(secret: Self.secret)
      var digests: [Digest] = []
      for number in 0..<3 {
        digests.append(try await store(Array("{\"a\":\"\(number)\(Self.secret)\"}".utf8), service))
      }
      let damaged = digests.removeFirst()
      try await service.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute(
          "UPDATE bodies SET body = \([UInt8](repeating: 9, count: 9)) WHERE digest = \(damaged.bytes)")
      }
      let summary = try await search(service).run()
      #expect(summary.changed == 2 && summary.skipped == 1)
      let counted = try await service.pool.read { session throws(DatabaseError) in
        try SecretSearchTable.unreadable(in: session)
      }
      #expect(counted == 1)
      for digest in digests {
        #expect(try await stored(digest, service)?.firstRange(of: Self.marker) != nil)
      }
      #expect(try await !search(service).isDue())
    }
  }

  /// As an earlier build kept them: nobody verified those, so anything may be encoded in them.
  @Test func `opens signed payloads that were set aside, unless Apple signed them`() async throws {
    try await with { service in
      try await service.register(secret: Self.secret)
      let parts = [#"{"alg":"ES256"}"#, "{\"a\":\"\(Self.secret)\"}"].map {
        String(decoding: Base64.url.encode(Array($0.utf8)), as: UTF8.self)
      }
      let sources: [QuarantineSource] = [.unproven, .authentic]
      let bodies = sources.map { source in
        let body: JSONObject = [
          "signedPayload": .string((parts + [source == .unproven ? "AAAA" : "AAAB"]).joined(separator: "."))
        ]
        return body.encoded()
      }
      let entries = zip(sources, bodies).map { source, body in
        Entry(
          InboxMessage(kind: .notification, body: body, receivedAt: RunningService.now),
          .quarantined(Entry.Refusal(source: source, code: "badSignature", detail: "", claimedApp: nil)))
      }
      _ = try await Ledger(pool: service.pool).append(entries)
      #expect(try await search(service).run().changed == 1)
      let kept = try await service.pool.read { session throws(DatabaseError) in
        try session.query("SELECT source, body FROM quarantine").map { row throws(DatabaseError) in
          (source: try row.text("source"), body: try row.bytes("body"))
        }
      }
      #expect(kept.count == 2)
      for message in kept {
        let isForged = message.source == QuarantineSource.unproven.rawValue
        let object = try #require(JSONReader.read(message.body).object)
        #expect((object["signedPayload"] == .string(HiddenSecrets.marker)) == isForged)
        #expect(bodies.contains(message.body) == !isForged)
      }
    }
  }

  /// Two requests of the moment in which the secret becomes known.
  @Test(arguments: [[0, 1], [1, 0]]) func `a message is kept once, with and without its secret`(order: [Int])
    async throws
  {
    try await with { service in
      let bodies = [Self.secret, HiddenSecrets.marker].map { Array("{\"a\":\"\($0)\"}".utf8) }
      let (app, claim) = (RunningService.app, Claim(environment: .sandbox))
      let messages = [
        InboxMessage(.evidence, bodies[0], app: app, claim: claim, receivedAt: RunningService.now),
        InboxMessage(
          .evidence, bodies[1], received: bodies[0], app: app, claim: claim, receivedAt: RunningService.now),
      ]
      let id = try #require(
        try await service.pool.read { session throws(DatabaseError) in try AppTable.all(in: session).first?.id })
      let findings = Findings(app: app, environment: .sandbox)
      let entries = order.map { index in
        Entry(
          messages[index],
          .accepted(Entry.Acceptance(messages[index], app: id, findings: findings, signedAt: nil, title: "")))
      }
      #expect(try await Ledger(pool: service.pool).append(entries) == [.stored, .duplicate])
      #expect(try await service.rowCount("inbox") == 1)
    }
  }

  /// An app that is registered within the moment, and one that is not registered at all.
  @Test func `the name of an app may hold 32 hexadecimal digits`() async throws {
    try await with { service in
      let name = "com.conduit.app_0123456789abcdef0123456789abcdef"
      func notification(_ id: String, _ name: String) throws -> [UInt8] {
        try service.notification(id: id) { transaction, data, _ in
          transaction["bundleId"] = .string(name)
          data["bundleId"] = .string(name)
        }
      }
      let early = try await service.post("/notifications/\(name)", notification("1", name))
      #expect(early.body["status"] == "quarantined")
      try await service.pool.read { session throws(DatabaseError) in
        let kept = try session.query("SELECT app, code FROM quarantine")
        let (app, code) = (try kept.first?.text("app"), try kept.first?.text("code"))
        #expect(app == name && code == "unknownApp")
      }
      try await service.pool.transaction { session throws(DatabaseError) in
        _ = try AppTable.add(bundleID: name, appAppleID: RunningService.appAppleID, at: RunningService.now, in: session)
      }
      let late = try await service.post("/notifications/\(name)", notification("2", name))
      #expect(late.body["status"] == "stored", "\(late)")
      #expect(service.log.records.contains { "\($0)".contains(name) })
    }
  }

  /// What a process that does not know a secret yet stores behind the search would never be searched for it.
  @Test func `waits for every process each time it begins`() async throws {
    try await with { service in
      try await service.register(secret: Self.secret)
      let first = "1111111111111111111111111111111f"
      let second = "2222222222222222222222222222222f"
      let digest = try await store(Array("{\"a\":\"\(first)\"}".utf8), service)
      let waits = Mutex<[Interval]>([])
      let late = Mutex<Digest?>(nil)
      let search = search(service) { interval in
        let count = waits.withLock { waits in
          waits.append(interval)
          return waits.count
        }
        // Another process, which knows the first secret alone, stores the second one while this one waits.
        guard count == 2 else { return }
        let digest = try? await store(Array("{\"b\":\"\(second)\"}".utf8), service)
        late.withLock { $0 = digest }
      }
      try await service.register(secret: first, name: "first")
      var pages = 0
      _ = try await search.run { _, _ in
        pages += 1
        guard pages == 1 else { return }
        try? await service.register(secret: second, name: "second")
        // By a process whose clock is behind.
        try? await service.pool.transaction { session throws(DatabaseError) in
          _ = try session.execute("UPDATE credentials SET created_at = created_at - 20000")
        }
      }
      #expect(waits.withLock { $0 } == [.seconds(15), .seconds(15)])
      let held = try #require(late.withLock { $0 })
      for digest in [digest, held] {
        #expect(try await stored(digest, service)?.firstRange(of: Self.marker) != nil)
      }
    }
  }

  /// Of which another process may still know nothing when the first wait ends.
  @Test func `waits once more for a secret that is registered while it waits`() async throws {
    try await with { service in
      try await service.register(secret: Self.secret)
      let waits = Mutex<[Interval]>([])
      let search = search(service) { interval in
        let count = waits.withLock { waits in
          waits.append(interval)
          return waits.count
        }
        guard count == 1 else { return }
        try? await service.register(secret: "1111111111111111111111111111111f", name: "late")
      }
      _ = try await search.run()
      #expect(waits.withLock { $0 } == [.seconds(15), .seconds(15)])
    }
  }

  @Test func `the name of a registered app is kept although a secret stands in it`() async throws {
    let secrets = SecretFilter([Array(Self.secret.utf8)], sparing: ["com.example.\(Self.secret)", "com.example"])
    let (name, other) = ("com.example.\(Self.secret)", "com.other.\(Self.secret)")
    let body: JSONObject = ["bid": .string(name), "a": .string(other)]
    var hidden = HiddenSecrets(secrets)
    #expect(
      hidden.removed(from: .object(body)) == ["bid": .string(name), "a": .string("com.other.\(HiddenSecrets.marker)")])
    #expect(secrets.redacted(name) == name && secrets.redacted(other) != other)
  }
}
