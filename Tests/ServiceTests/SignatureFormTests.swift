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
      let ledger = LedgerStore(pool: service.pool)
      let app = try await service.pool.read { session throws(DatabaseError) in try AppTable.all(in: session).first }
      let appended = Appendix()
      let answers = APIResponseRecorder(
        intake: IngestDecider(adapter: MessageDecoder(verifier: SignedDataVerifier(roots: roots))),
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
}

/// What became of the last entry.
private final class Appendix: Sendable {
  private let outcome = Mutex<AppendResult?>(nil)

  func note(_ appended: AppendResult) { outcome.withLock { $0 = appended } }
  var last: AppendResult? { outcome.withLock { $0 } }
}
