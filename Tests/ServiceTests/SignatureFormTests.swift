@testable import Intake
@testable import Service

/// Of every ECDSA signature (r, s) there is a second one, (r, n − s), which anybody can make.
@Suite struct `A message with the other of its two signatures` {
  enum Kind: String, CaseIterable {
    case notification, refused, transaction, statement, history, apiAnswer
  }

  /// A body that is sent, and what it has to become.
  private func body(_ kind: Kind, _ service: RunningService) throws -> [UInt8] {
    func transaction(_ id: String) throws -> String {
      let signed = RunningService.now - .hours(1)
      let payload: JSONObject = [
        "transactionId": .string(id), "originalTransactionId": .string(id), "bundleId": .string(RunningService.app),
        "productId": "monthly", "purchaseDate": .integer(signed.sinceEpoch), "signedDate": .integer(signed.sinceEpoch),
        "type": "Non-Consumable", "environment": "Sandbox",
      ]
      return String(decoding: try service.pki.sign(payload), as: UTF8.self)
    }
    switch kind {
    case .notification: return try service.notification()
    case .refused:
      return try service.notification { transaction, data, _ in
        data["bundleId"] = "com.example.unregistered"
        transaction["bundleId"] = "com.example.unregistered"
      }
    case .transaction: return Array(try transaction("2000000900000071").utf8)
    case .statement:
      return (["signedTransactionInfo": .string(try transaction("2000000900000072"))] as JSONObject).encoded()
    case .history, .apiAnswer:
      let rows = try (0..<3).map { JSONValue.string(try transaction("200000090000008\($0)")) }
      let answer: JSONObject = [
        "environment": "Sandbox", "bundleId": .string(RunningService.app), "signedTransactions": .array(rows),
        "hasMore": false, "revision": "1",
      ]
      return answer.encoded()
    }
  }

  private func send(_ body: [UInt8], _ kind: Kind, _ service: RunningService) async throws -> String? {
    switch kind {
    case .notification, .refused: return try await service.post("/notifications", body).body["status"]?.string
    case .transaction, .statement, .history:
      return try await service.post("/v1/evidence", body, token: service.token).body["status"]?.string
    case .apiAnswer:
      // As an answer of Apple's is taken in, by a process of its own.
      let roots = TrustedRoots.apple.adding([try service.pki.trustedRoot()], for: .sandbox)
      let ledger = Ledger(pool: service.pool)
      let app = try await service.pool.read { session throws(DatabaseError) in try AppTable.all(in: session).first }
      let appended = Appendix()
      let answers = AppleAnswers(
        intake: Intake(adapter: Adapter(verifier: SignedDataVerifier(roots: roots))),
        clock: .fixed(at: RunningService.now), logger: Logger(label: "test", level: .debug, handler: service.log)
      ) { entry in
        let outcome = try await ledger.append([entry])[0]
        appended.note(outcome)
        return outcome
      }
      _ = await answers.read(body, try #require(app), .sandbox).record()
      return appended.last?.rawValue
    }
  }

  private func words(_ kind: Kind) -> [String] {
    kind == .refused ? ["quarantined", "quarantinedBefore"] : ["stored", "duplicate"]
  }

  @Test(arguments: Kind.allCases, [true, false])
  func `is the same message, whichever comes first`(kind: Kind, isHighFirst: Bool) async throws {
    try await RunningService.with { service in
      let signed = try body(kind, service)
      let first = FlippedSignatures.isHigh(signed) == isHighFirst ? signed : FlippedSignatures.flipped(signed)
      let other = FlippedSignatures.flipped(first)
      #expect(FlippedSignatures.isHigh(first) == isHighFirst && FlippedSignatures.isHigh(other) != isHighFirst)
      #expect(try await send(first, kind, service) == words(kind)[0])
      #expect(try await send(other, kind, service) == words(kind)[1])
      #expect(try await send(FlippedSignatures.flipped(first, only: 1), kind, service) == words(kind)[1])
      #expect(try await send(first, kind, service) == words(kind)[1])
      #expect(try await service.rowCount(kind == .refused ? "quarantine" : "inbox") == 1)
    }
  }

  /// Builds before schema 5 knew a message by the signature that came.
  @Test(arguments: Kind.allCases, [true, false])
  func `is the same message as one that an earlier build stored`(kind: Kind, wasHigh: Bool) async throws {
    try await RunningService.with { service in
      try await service.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute("UPDATE schema_versions SET applied_at = applied_at + 1000 WHERE version = 5")
      }
      let signed = try body(kind, service)
      let first = FlippedSignatures.isHigh(signed) == wasHigh ? signed : FlippedSignatures.flipped(signed)
      #expect(try await send(first, kind, service) == words(kind)[0])
      try await rename(first, kind, service)
      #expect(try await send(first, kind, service) == words(kind)[1])
      if [.history, .apiAnswer].contains(kind) {
        // Of several signatures 2ⁿ forms exist: another one is stored once more at most, and then never again.
        _ = try await send(FlippedSignatures.flipped(first, only: 1), kind, service)
        #expect(try await service.rowCount("inbox") <= 2)
        #expect(try await send(FlippedSignatures.flipped(first, only: 2), kind, service) == words(kind)[1])
      }
      #expect(try await send(FlippedSignatures.flipped(first), kind, service) == words(kind)[1])
    }
  }

  /// Replays a message that was set aside, which Apple sent again meanwhile.
  @Test(arguments: [true, false])
  func `leaves quarantine for the one in the inbox`(wasUpgraded: Bool) async throws {
    try await RunningService.with { service in
      if wasUpgraded {
        try await service.pool.transaction { session throws(DatabaseError) in
          _ = try session.execute("UPDATE schema_versions SET applied_at = applied_at + 1000 WHERE version = 5")
        }
      }
      let signed = try body(.notification, service)
      let high = FlippedSignatures.isHigh(signed) ? signed : FlippedSignatures.flipped(signed)
      let jws = try #require(JSONReader.read(high).object?["signedPayload"]?.string)
      let digest = Digest.sha256(Array(jws.utf8))
      try await service.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute(
          """
          INSERT INTO quarantine (digest, received_at, source, code, detail, app, kind, body, size)
          VALUES (\(digest.bytes), 1, 'authentic', 'unknownApp', '', '', 1, \(high), \(high.count))
          """)
      }
      #expect(try await send(FlippedSignatures.flipped(high), .notification, service) == "stored")
      let kept = try await service.pool.read { session throws(DatabaseError) in
        try QuarantineTable.page(after: nil, code: nil, digestPrefix: nil, limit: 10, in: session)
      }
      let message = try #require(kept.first).message.foundAgain(app: "")
      #expect(message.digest == digest)
      let roots = TrustedRoots.apple.adding([try service.pki.trustedRoot()], for: .sandbox)
      let directory = try await service.pool.read { session throws(DatabaseError) in
        try AppTable.directory(with: nil, in: session)
      }
      let entry = try Intake(adapter: Adapter(verifier: SignedDataVerifier(roots: roots))).notification(
        ReceivedNotification(message), directory: directory
      ).entry
      #expect(try await Ledger(pool: service.pool).append([entry]) == [.duplicate])
    }
  }

  /// What an earlier build set aside and forwarded is not forwarded again, nor is it lost where it was not forwarded.
  @Test(arguments: [true, false])
  func `is forwarded once, out of quarantine too`(wasForwarded: Bool) async throws {
    try await RunningService.with { service in
      let signed = try body(.notification, service)
      let high = FlippedSignatures.isHigh(signed) ? signed : FlippedSignatures.flipped(signed)
      let jws = try #require(JSONReader.read(high).object?["signedPayload"]?.string)
      let digest = Digest.sha256(Array(jws.utf8))
      try await service.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute("UPDATE schema_versions SET applied_at = applied_at + 1000 WHERE version = 5")
        _ = try session.execute(
          """
          INSERT INTO quarantine (digest, received_at, source, code, detail, app, kind, body, size)
          VALUES (\(digest.bytes), 1, 'authentic', 'unknownApp', '', '', 1, \(high), \(high.count))
          """)
        guard let app = try AppTable.all(in: session).first else { throw DatabaseError(.column, "no app") }
        try DestinationTable.setLegacy(
          "http://127.0.0.1:1/", of: Scope(app: app.id, environment: .sandbox), at: RunningService.now,
          in: session)
        if wasForwarded {
          _ = try session.execute(
            """
            INSERT INTO outbox (destination, message, state, created_at, due_at, expires_at, settled_at)
            SELECT id, \(digest.bytes), 1, 1, 1, 1, 1 FROM destinations
            """)
        }
      }
      let roots = TrustedRoots.apple.adding([try service.pki.trustedRoot()], for: .sandbox)
      let directory = try await service.pool.read { session throws(DatabaseError) in
        try AppTable.directory(with: nil, in: session)
      }
      let message = InboxMessage(notification: FlippedSignatures.flipped(high), receivedAt: RunningService.now)
      let entry = try Intake(adapter: Adapter(verifier: SignedDataVerifier(roots: roots))).notification(
        ReceivedNotification(message), directory: directory
      ).entry
      #expect(entry.addressee != nil)
      #expect(try await Ledger(pool: service.pool).append([entry]) == [.stored])
      #expect(try await service.rowCount("outbox") == 1)
    }
  }

  /// An installation that never ran an earlier build pays nothing for it, another one statement.
  @Test(arguments: [(false, 0), (true, 1)])
  func `costs at most one statement more for each commit`(wasUpgraded: Bool, more: Int) async throws {
    try await RunningService.with { service in
      if wasUpgraded {
        try await service.pool.transaction { session throws(DatabaseError) in
          _ = try session.execute("UPDATE schema_versions SET applied_at = applied_at + 1000 WHERE version = 5")
        }
      }
      let roots = TrustedRoots.apple.adding([try service.pki.trustedRoot()], for: .sandbox)
      let intake = Intake(adapter: Adapter(verifier: SignedDataVerifier(roots: roots)))
      let directory = try await service.pool.read { session throws(DatabaseError) in
        try AppTable.directory(with: nil, in: session)
      }
      // One connection. Its statements themselves, each once: the server's own counter also counts what it runs again, as
      // when a table was opened anew for somebody else's sake.
      var settings = Pool.Settings()
      settings.size = 1
      let pool = Pool(service.database, settings: settings)
      let ledger = Ledger(pool: pool)
      let sent = Sent()
      try await pool.read { session throws(DatabaseError) in
        session.onStatement = { _, sql throws(DatabaseError) in sent.note(sql.text) }
      }
      var commits: [Set<String>] = []
      for isBare in [true, false, true, false] {
        let number = 20 + commits.count
        let body = try service.notification(id: "30000000000000\(number)")
        var message = InboxMessage(notification: body, receivedAt: RunningService.now)
        if isBare {
          let jws = try #require(JSONReader.read(body).object?["signedPayload"]?.string)
          message = InboxMessage(
            kind: .notification, body: body, identity: Array(jws.utf8), receivedAt: RunningService.now)
        }
        let entry = try intake.notification(ReceivedNotification(message), directory: directory).entry
        _ = sent.take()
        #expect(try await ledger.append([entry]) == [.stored])
        commits.append(sent.take())
      }
      await pool.close()
      // The first of each looks up more.
      #expect(!commits[2].isEmpty && commits[3].isSuperset(of: commits[2]))
      let extra = commits[3].subtracting(commits[2])
      #expect(extra.count == more, "\(extra)")
      #expect(extra.allSatisfy { $0.contains("JOIN inbox") && $0.contains("JOIN quarantine") })
    }
  }

  /// Gives what was stored the digest that an earlier build gave it.
  private func rename(_ body: [UInt8], _ kind: Kind, _ service: RunningService) async throws {
    let identity: [UInt8]
    switch kind {
    case .notification, .refused:
      identity = Array(try #require(JSONReader.read(body).object?["signedPayload"]?.string).utf8)
    case .transaction, .statement, .history: identity = body + Array("\n\(RunningService.app)\n".utf8)
    case .apiAnswer: identity = body + Array("\n\(RunningService.app)\nSandbox".utf8)
    }
    let digest = Digest.sha256(identity).bytes
    try await service.pool.transaction { session throws(DatabaseError) in
      for table in kind == .refused ? ["quarantine"] : ["inbox", "bodies"] {
        _ = try session.execute("UPDATE \(identifier: table) SET digest = \(digest)")
      }
    }
  }
}

/// What became of the last entry.
private final class Appendix: Sendable {
  private let outcome = Mutex<Appended?>(nil)

  func note(_ appended: Appended) { outcome.withLock { $0 = appended } }
  var last: Appended? { outcome.withLock { $0 } }
}

/// The statements that were sent since they were last taken.
private final class Sent: Sendable {
  private let texts = Mutex<Set<String>>([])

  func note(_ text: String) { texts.withLock { _ = $0.insert(text) } }

  func take() -> Set<String> {
    texts.withLock { texts in
      defer { texts = [] }
      return texts
    }
  }
}
