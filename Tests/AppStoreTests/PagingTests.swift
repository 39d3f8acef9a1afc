@Suite struct `A list in pages` {
  private static let now = QuickTime().now
  private static let pki: ApplePKI = {
    do { return try ApplePKI.generate(at: now) } catch { preconditionFailure("\(error)") }
  }()

  private func transaction(_ id: String, bundleID: String = Scripted.bundleID, signedDate: Int64 = 0) throws -> String {
    let payload: JSONObject = [
      "transactionId": .string(id), "originalTransactionId": "1", "bundleId": .string(bundleID),
      "environment": "Production", "signedDate": .integer(Self.now.sinceEpoch + signedDate),
    ]
    return String(decoding: try Self.pki.sign(payload), as: UTF8.self)
  }

  private func page(_ transactions: [String], revision: String?, hasMore: Bool) -> HTTPResponse {
    var object: JSONObject = [
      "hasMore": .bool(hasMore), "signedTransactions": .array(transactions.map(JSONValue.string)),
    ]
    object["revision"] = revision.map(JSONValue.string)
    return .json(object)
  }

  private func pages(
    _ scripted: Scripted, resumingAt start: String? = nil, limit: Int = 100
  ) throws -> Pages<HistoryPages> {
    let verifier = SignedDataVerifier(roots: TrustedRoots(exactly: [try Self.pki.trustedRoot()]))
    return Pages(
      HistoryPages(of: "1"), scripted.client, as: scripted.credentials, in: .production, verifiedBy: verifier,
      resumingAt: start, limit: limit)
  }

  @Test func `is walked to its end, each row proven, rows that come again told`() async throws {
    let answers = [
      page([try transaction("a"), try transaction("b")], revision: "1", hasMore: true),
      page([try transaction("b", signedDate: 5), try transaction("c")], revision: "2", hasMore: true),
      page([], revision: "2", hasMore: false),
    ]
    try await withAppStore(answers) { scripted in
      var ids: [[String?]] = []
      var cursors: [String?] = []
      var repeated = 0
      for try await page in try pages(scripted) {
        ids.append(page.items.map { $0.transaction?.transactionId })
        cursors.append(page.cursor)
        repeated += page.repeated
        #expect(!page.isFromBeginning)
      }
      #expect(ids == [["a", "b"], ["b", "c"], []])
      #expect(cursors == ["1", "2", "2"])
      #expect(repeated == 1)
      #expect(scripted.apple.asked.map(\.target).last == "/inApps/v2/history/1?revision=2")
    }
  }

  @Test func `keeps what it cannot prove, with the reason`() async throws {
    let foreign = try transaction("x", bundleID: "com.example.other")
    try await withAppStore([page([foreign, "no.j.ws", try transaction("a")], revision: "1", hasMore: false)]) {
      scripted in
      for try await page in try pages(scripted) {
        let codes = page.items.map { item -> VerificationError.Code? in
          if case .failure(let error) = item.outcome { error.code } else { nil }
        }
        #expect(codes == [.wrongBundle, codes[1], nil])
        #expect(codes[1] != nil)
        #expect(page.items.map(\.jws).first == foreign)
      }
    }
  }

  @Test func `is resumed at a stored revision, and from the beginning when Apple does not take it`() async throws {
    let last = page([try transaction("a")], revision: "9", hasMore: false)
    try await withAppStore([last]) { scripted in
      for try await page in try pages(scripted, resumingAt: "8") { #expect(page.cursor == "9") }
      #expect(scripted.apple.asked.map(\.target) == ["/inApps/v2/history/1?revision=8"])
    }
    try await withAppStore([.error(4_000_005), last]) { scripted in
      var count = 0
      for try await page in try pages(scripted, resumingAt: "8") {
        #expect(page.isFromBeginning)
        count += 1
      }
      #expect(count == 1)
      #expect(scripted.apple.asked.map(\.target).last == "/inApps/v2/history/1")
    }
    try await withAppStore([.error(4_000_005)]) { scripted in
      let failure = await failure { for try await _ in try pages(scripted) {} }
      #expect(failure?.errorCode == 4_000_005)
      #expect(scripted.apple.asked.count == 1)
    }
  }

  @Test func `ends when it leads nowhere`() async throws {
    let same = page([try transaction("a")], revision: "1", hasMore: true)
    try await withAppStore([same]) { scripted in
      let failure = await failure { for try await _ in try pages(scripted) {} }
      #expect(failure?.code == .endlessPaging)
      #expect(scripted.apple.asked.count == 2)
    }
    let many = try (0..<10).map { page([try transaction("\($0)")], revision: "\($0)", hasMore: true) }
    try await withAppStore(many) { scripted in
      let failure = await failure { for try await _ in try pages(scripted, limit: 3) {} }
      #expect(failure?.code == .endlessPaging)
      #expect(scripted.apple.asked.count == 3)
    }
  }

  @Test(arguments: [nil, ""])
  func `gives the page that does not say where to go on, and then the failure`(revision: String?) async throws {
    let answers = [
      page([try transaction("a")], revision: "1", hasMore: true),
      page([try transaction("b")], revision: revision, hasMore: true),
    ]
    try await withAppStore(answers) { scripted in
      var walk = try pages(scripted).makeAsyncIterator()
      var seen: [String?] = []
      var ids: [String?] = []
      while seen.count < 2, let page = try await walk.next() {
        seen.append(page.cursor)
        ids += page.items.map { $0.transaction?.transactionId }
      }
      #expect(ids == ["a", "b"])
      #expect(seen == ["1", "1"], "where to resume is not forgotten")
      let end = await failure { try await walk.next() }
      #expect(end?.code == .endlessPaging)
      #expect(try await walk.next() == nil)
      #expect(scripted.apple.asked.count == 2)
    }
  }

  @Test func `of refunds and of notifications is walked the same way`() async throws {
    let verifier = SignedDataVerifier(roots: TrustedRoots(exactly: [try Self.pki.trustedRoot()]))
    let refunds = [
      page([try transaction("a")], revision: "1", hasMore: true), page([], revision: "1", hasMore: false),
    ]
    try await withAppStore(refunds) { scripted in
      let pages = Pages(
        RefundPages(of: "1"), scripted.client, as: scripted.credentials, in: .production, verifiedBy: verifier)
      var count = 0
      for try await page in pages { count += page.items.count }
      #expect(count == 1)
      #expect(scripted.apple.asked.map(\.target).last == "/inApps/v2/refund/lookup/1?revision=1")
    }
    let payload: JSONObject = [
      "notificationType": "TEST", "notificationUUID": "u", "signedDate": .integer(Self.now.sinceEpoch),
      "data": ["bundleId": .string(Scripted.bundleID), "environment": "Sandbox"],
    ]
    let jws = String(decoding: try Self.pki.sign(payload), as: UTF8.self)
    let attempt: JSONValue = ["attemptDate": 5, "sendAttemptResult": "TIMED_OUT"]
    let history: [HTTPResponse] = [
      .json([
        "paginationToken": "t", "hasMore": true,
        "notificationHistory": [["signedPayload": .string(jws), "sendAttempts": [attempt]]],
      ]),
      .json(["hasMore": false, "notificationHistory": []]),
    ]
    try await withAppStore(history) { scripted in
      let request = NotificationHistoryRequest(startDate: Timestamp(1), endDate: Timestamp(2))
      let pages = Pages(
        NotificationPages(request), scripted.client, as: scripted.credentials, in: .sandbox, verifiedBy: verifier)
      var items: [NotificationItem] = []
      for try await page in pages { items += page.items }
      #expect(items.first?.notification?.notificationType == "TEST")
      #expect(items.first?.sendAttempts.first?.sendAttemptResult == "TIMED_OUT")
      #expect(
        scripted.apple.asked.map(\.target).last == "/sandbox/inApps/v1/notifications/history?paginationToken=t")
      #expect(scripted.apple.asked.last?.json == request.json)
    }
  }
}
