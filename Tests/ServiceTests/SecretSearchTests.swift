@testable import Service

/// A database that an earlier build filled, with secrets in clear.
@Suite struct `The search for stored secrets` {
  private static let secret = "5ec7e75ec7e75ec7e75ec7e75ec7e75e"
  private static let later = "0ddba110ddba110ddba110ddba110ddb"
  private static let password = "Recognisable-Password-42"
  /// More than two pages.
  private static let count = 450

  private func answer(_ number: Int, _ more: JSONObject) -> JSONObject {
    let row: JSONObject = [
      "transaction_id": .string("77\(number)"), "original_transaction_id": .string("77\(number)"),
      "purchase_date_ms": "1770000000000", "product_id": "monthly",
    ]
    var answer: JSONObject = [
      "status": 0, "environment": "Sandbox",
      "receipt": ["bundle_id": .string(RunningService.app), "receipt_type": "ProductionSandbox", "in_app": []],
      "latest_receipt_info": [.object(row)],
    ]
    for member in more { answer[member.key] = member.value }
    return answer
  }

  private var strange: [JSONObject] {
    let payload = String(decoding: Base64.url.encode(Array("{\"a\":\"\(Self.secret)\"}".utf8)), as: UTF8.self)
    let hidden = [String(repeating: "h", count: 300), payload, String(repeating: "A", count: 86)].joined(separator: ".")
    return [
      ["password": .string(Self.password)], ["a": [["Password": [.string(Self.password)]]]],
      ["b": .string("x\(Self.secret)y")], [Self.secret: 1], ["c": .string("{\"password\":\"\(Self.password)\"}")],
      ["d": .string(hidden)], [:], ["userId": .string("user-\(Self.secret)")], ["e": .string(Self.later)],
    ]
  }

  /// Writes messages as an earlier build did: as they came, known by what came.
  private func fill(_ service: RunningService) async throws -> [(body: [UInt8], digest: Digest)] {
    let (ledger, adapter) = (Ledger(pool: service.pool), Adapter(verifier: SignedDataVerifier(roots: .apple)))
    let app = try #require(
      try await service.pool.read { session throws(DatabaseError) in try AppTable.all(in: session).first })
    var written: [(body: [UInt8], digest: Digest)] = []
    var entries: [Entry] = []
    for number in 0..<Self.count {
      let body = answer(number, strange[number % strange.count]).encoded()
      let userID = number % 50 == 49 ? "id-\(Self.secret)" : nil
      let message = InboxMessage(
        kind: .evidence, body: body,
        identity: body + Array("\n\(app.bundleID)\n".utf8) + (userID.map { Array("\n\($0)".utf8) } ?? []),
        claim: Claim(userID: userID), receivedAt: RunningService.now)
      let reading = try adapter.evidence(
        body, app: app.bundleID, environment: nil, userID: userID, message: message.digest, now: RunningService.now)
      entries.append(
        Entry(
          message,
          .accepted(
            Entry.Acceptance(message, app: app.id, findings: reading.findings, signedAt: nil, title: reading.title))))
      written.append((body, message.digest))
      var refused: JSONObject = ["notification_type": "CANCEL", "bid": .string(app.bundleID), "environment": "Sandbox"]
      for member in strange[number % strange.count] { refused[member.key] = member.value }
      refused["number"] = .integer(Int64(number))
      // Where Apple puts it there was a code already.
      refused["password"] = .string(SecretCode(of: Array(Self.secret.utf8), under: service.master).text)
      let set = InboxMessage(kind: .notification, body: refused.encoded(), receivedAt: RunningService.now)
      entries.append(
        Entry(
          set,
          .quarantined(
            Entry.Refusal(
              source: .legacy, code: "wrongBundle", detail: "it is of \(Self.secret)", claimedApp: Self.secret))))
    }
    for start in stride(from: 0, to: entries.count, by: 60) {
      _ = try await ledger.append(Array(entries[start..<min(start + 60, entries.count)]))
    }
    return written
  }

  /// How many rows hold one of the texts, in the tables that are searched.
  private func rows(with texts: [String], _ service: RunningService) async throws -> Int {
    try await service.pool.read { session throws(DatabaseError) in
      var found = 0
      let statements: [SQL] = [
        "SELECT body FROM bodies", "SELECT title FROM inbox",
        "SELECT CONCAT(body, ' ', detail, ' ', app) FROM quarantine",
        "SELECT COALESCE(user_id, '') FROM claims",
      ]
      for statement in statements {
        for row in try session.query(statement) {
          let bytes = try row.bytes(0)
          if texts.contains(where: { bytes.firstRange(of: Array($0.utf8)) != nil }) { found += 1 }
        }
      }
      return found
    }
  }

  private func digests(_ service: RunningService) async throws -> Set<[UInt8]> {
    try await service.pool.read { session throws(DatabaseError) in
      var digests: Set<[UInt8]> = []
      for row in try session.query("SELECT digest FROM inbox UNION ALL SELECT digest FROM quarantine") {
        digests.insert(try row.bytes(0))
      }
      return digests
    }
  }

  private func search(_ service: RunningService) -> SecretSearch {
    SecretSearch(
      pool: service.pool, keys: Keyring(current: service.master),
      adapter: Adapter(verifier: SignedDataVerifier(roots: .apple)), now: { RunningService.now }, sleep: { _ in })
  }

  @Test func `leaves none, goes on where it was stopped, and changes no digest`() async throws {
    try await RunningService.with({ $0.searchesStoredSecrets = false }) { service in
      try await service.register(secret: Self.secret)
      let written = try await fill(service)
      let texts = [Self.secret, Self.password]
      let (before, holding) = (try await digests(service), try await rows(with: texts, service))
      #expect(holding > Self.count)

      let looked = try await search(service).rehearse()
      #expect(looked.changed > Self.count && looked.searched == 2 * Self.count + Self.count / 50)
      #expect(try await rows(with: texts, service) == holding)
      #expect(try await search(service).isDue())

      // Stopped after each page: what was done stays, and is not done again.
      var (searched, changed, runs) = (0, 0, 0)
      while try await search(service).isDue() {
        let stopped = Task {
          try await search(service).run { _, _ in unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
        }
        let summary = try await stopped.value
        searched += summary.searched
        changed += summary.changed
        runs += 1
        try #require(runs < 50)
      }
      #expect(searched == looked.searched && changed == looked.changed && runs > 5)
      #expect(try await rows(with: texts, service) == 0)
      #expect(try await digests(service) == before)
      // One that was not registered then is no secret yet.
      #expect(try await rows(with: [Self.later], service) > 0)
      #expect(try await search(service).run() == SecretSearch.Summary())

      // Heard again it is no second message.
      for (body, _) in written.prefix(strange.count) {
        guard body.firstRange(of: Array("userId".utf8)) != nil else {
          let heard = try await service.post("/v1/evidence", body, token: service.token)
          #expect(heard.body["status"] == "duplicate", "\(heard)")
          continue
        }
        // As soon as the service knows the secret.
        let isRefused = try await eventually(within: .seconds(60)) {
          try await service.post("/v1/evidence", body, token: service.token).status == 400
        }
        #expect(isRefused)
      }
      try await service.register(secret: Self.later, name: "later")
      #expect(try await search(service).isDue())
      #expect(try await search(service).run().changed > 0)
      #expect(try await rows(with: texts + [Self.later], service) == 0)
      #expect(try await digests(service) == before)
      #expect(try await !search(service).isDue())
    }
  }

  @Test func `leaves what is read from a message as it was`() async throws {
    try await RunningService.with({ $0.searchesStoredSecrets = false }) { service in
      try await service.register(secret: Self.secret)
      let written = try await fill(service)
      _ = try await search(service).run()
      let adapter = Adapter(verifier: SignedDataVerifier(roots: .apple))
      let stored = try await service.pool.read { session throws(DatabaseError) in
        try InboxTable.newest(limit: 1_000, digestPrefix: nil, in: session)
      }
      #expect(stored.count == Self.count)
      for message in stored.map(\.message) {
        let body = try #require(written.first { $0.digest == message.digest }).body
        func findings(_ body: [UInt8]) throws -> Findings {
          try adapter.evidence(
            body, app: RunningService.app, environment: nil, userID: message.claim?.userID, message: message.digest,
            now: RunningService.now
          ).findings
        }
        let (old, new) = (try findings(body), try findings(message.body))
        // A user id that was a secret names nobody any more.
        guard body.firstRange(of: Array("userId".utf8)) != nil else {
          #expect(old == new)
          continue
        }
        #expect(old.purchases == new.purchases && !old.attributions.isEmpty)
        #expect(!new.attributions.contains { $0.value.contains("user-") }, "\(new.attributions)")
      }
      // The rebuild that is due takes what is derived from it out, too.
      let read: Rebuild.Reading = { stored in
        try adapter.evidence(
          stored.message.body, app: stored.bundleID, environment: stored.claim.environment,
          userID: stored.claim.userID, message: stored.message.digest, now: stored.message.receivedAt
        ).findings
      }
      let due = try await service.pool.read { session throws(DatabaseError) in
        try SecretSearchTable.underived(in: session)
      }
      #expect(due ?? 0 > 0)
      _ = try await Rebuild(service.database, read: read).run(now: RunningService.now + .seconds(1))
      let left = try await service.pool.read { session throws(DatabaseError) in
        let ids = try session.query("SELECT user_id FROM user_ids").map { row throws(DatabaseError) in
          try row.text("user_id")
        }
        return (try SecretSearchTable.underived(in: session), ids)
      }
      #expect(left.0 == nil && !left.1.contains { $0.contains(Self.secret) }, "\(left)")
    }
  }

  /// Two that know different secrets must not begin anew by turns forever.
  @Test func `goes on for the secrets that are registered, when some are registered meanwhile`() async throws {
    try await RunningService.with({ $0.searchesStoredSecrets = false }) { service in
      try await service.register(secret: Self.secret)
      _ = try await fill(service)
      let old = try await service.pool.read { session throws(DatabaseError) in
        try SecretSearchTable.registered(in: session)
      }
      var pages = 0
      _ = try await search(service).run { _, _ in
        pages += 1
        if pages == 1 { try? await service.register(secret: Self.later, name: "later") }
      }
      #expect(try await !search(service).isDue())
      #expect(try await rows(with: [Self.secret, Self.later, Self.password], service) == 0)
      // A process that knows the old ones alone does nothing.
      let page = SecretSearchPage { _ in nil }
      let outcome = try await service.pool.transaction { session throws(DatabaseError) in
        let found = try page.search(.inbox, after: [], in: session)
        return (
          try page.search(.inbox, for: old, in: session) == nil,
          try page.write(found, for: old, at: RunningService.now, in: session)
        )
      }
      #expect(outcome.0 && outcome.1 == nil)
      #expect(try await !search(service).isDue())
    }
  }

  /// Replaces every message in quarantine with "gone".
  private static let gone = SecretSearchPage { kept in
    guard case .refused = kept else { return nil }
    return Array("gone".utf8)
  }

  /// Writes what was found; what is in quarantine afterwards of what this test writes.
  private func write(
    _ found: SecretSearchPage.Found, for secrets: Digest, _ service: RunningService
  ) async throws -> (outcome: SecretSearchPage.Outcome?, bodies: [String]) {
    try await service.pool.transaction { session throws(DatabaseError) in
      let outcome = try Self.gone.write(found, for: secrets, at: RunningService.now, in: session)
      var bodies: [String] = []
      for row in try session.query("SELECT body FROM quarantine WHERE body IN ('gone', 'other') ORDER BY body") {
        bodies.append(try row.text("body"))
      }
      return (outcome, bodies)
    }
  }

  /// A page is searched before its transaction begins.
  @Test func `writes nothing over what changed while a page was searched`() async throws {
    try await RunningService.with({ $0.searchesStoredSecrets = false }) { service in
      try await service.register(secret: Self.secret)
      _ = try await fill(service)
      let secrets = try await service.pool.read { session throws(DatabaseError) in
        try SecretSearchTable.registered(in: session)
      }
      let search = try await service.pool.read { session throws(DatabaseError) in
        try Self.gone.search(.quarantine, for: secrets, in: session)
      }
      let found = try #require(search)
      try await service.pool.transaction { session throws(DatabaseError) in
        // A stronger class sends another body of the first message.
        _ = try session.execute("UPDATE quarantine SET body = 'other', size = 5 ORDER BY digest LIMIT 1")
      }
      let bodies = Array(repeating: "gone", count: found.outcome.searched - 1) + ["other"]
      let first = try await write(found, for: secrets, service)
      // It is searched once more, and what others had of it is counted once.
      let outcome = try #require(first.outcome)
      #expect(outcome.searched == 0 && outcome.changed == bodies.count - 1 && outcome.position == [])
      #expect(first.bodies == bodies)
      let next = try await service.pool.read { session throws(DatabaseError) in
        try Self.gone.search(.quarantine, for: secrets, in: session)
      }
      let again = try await write(try #require(next), for: secrets, service)
      #expect(again.outcome?.searched == bodies.count && again.bodies == bodies.map { _ in "gone" }, "\(again)")
      // A second process had read the first page.
      let second = try await write(found, for: secrets, service)
      let late = try #require(second.outcome)
      #expect(late.searched == 0 && late.changed == 0 && late.position == again.outcome?.position)
      #expect(second.bodies == again.bodies)
    }
  }

  @Test(arguments: SecretSearchTable.Part.allCases)
  func `reads a page by its key, wherever it is`(part: SecretSearchTable.Part) async throws {
    try await RunningService.with({ $0.searchesStoredSecrets = false }) { service in
      _ = try await fill(service)
      let month = try await service.pool.read { session throws(DatabaseError) in
        try session.query("SELECT MAX(month) AS month FROM bodies").first?.int("month") ?? 0
      }
      let position = (part == .inbox ? Array("\(month)".utf8) : []) + [0xF0]
      let plans = try await StatementPlan.during(service.pool) { session throws(DatabaseError) in
        _ = try SecretSearchPage { _ in nil }.search(part, after: position, in: session)
      }
      let first = try #require(plans.first)
      #expect(first.accesses.allSatisfy { !$0.isScan && $0.key == "PRIMARY" }, "\(first)")
    }
  }

  /// A message that is replayed while the search is under way must not be missed in both places.
  @Test func `searches quarantine before the inbox`() {
    let parts = SecretSearchTable.Part.allCases
    #expect(parts.first == .quarantine && parts.dropFirst().contains(.inbox))
  }
}
