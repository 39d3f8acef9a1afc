@Suite struct `switchyard explain` {
  private let fixtures: SignedFixtures
  private static let id = "2000000000000001"

  init() throws { fixtures = try SignedFixtures() }

  /// A database that knows one period, as a notification told it.
  private func database() async throws -> (TestDatabase, message: String) {
    let database = try await TestDatabase.migrated()
    let trust = ["--trust-root", fixtures.root(in: database.place)]
    let message = try await database.quarantine(
      try fixtures.body(fixtures.notification()), code: "unknownApp", receivedAt: SignedFixtures.signedAt)
    _ = try await database.program.run("app", "add", SignedFixtures.bundleID)
    let replayed = try await database.program.run(["quarantine", "replay", "--all"] + trust)
    #expect(replayed.status == 0, "\(replayed)")
    return (database, message)
  }

  @Test func `says first how it stands, by any id, and then who said what`() async throws {
    let (database, message) = try await database()
    let program = database.program
    for id in [Self.id, "2000000000000077"] {
      let short = try await program.run("explain", SignedFixtures.bundleID, id)
      #expect(short.status == 0, "\(short)")
      #expect(short.output.hasPrefix("\(SignedFixtures.bundleID) in Sandbox, \(id) at "))
      #expect(short.output.contains("customer  \(Self.id)\n\nsubscription \(Self.id): "))
      #expect(short.output.contains("confirmed by Apple's signature"))
      #expect(short.output.contains("decided by line 2000000000000077, com.example.switch.monthly, until 2026-"))
      #expect(short.output.contains("next: autoRenewProductId com.example.switch.monthly, autoRenewStatus 1"))
      #expect(short.output.contains("SUBSCRIBED/INITIAL_BUY") && short.output.contains("N-001"))
      #expect(!short.output.contains("VERDICT") && short.notes.contains("--sources"))
    }
    let long = try await program.run("explain", SignedFixtures.bundleID, Self.id, "--sources")
    #expect(long.output.contains("purchase \(Self.id) line 2000000000000077\nFIELD"))
    #expect(long.output.contains("renewal of \(Self.id)\nFIELD"))
    #expect(long.output.contains("T-008") && long.output.contains("stated"))
    let shown = try await program.run("inbox", "show", String(message.prefix(12)), "--json")
    #expect(long.output.contains(message.prefix(12)) && shown.status == 0)
  }

  @Test func `shows what each source said, what counts and why the rest does not`() async throws {
    let (database, message) = try await database()
    let digest = Array(repeating: 0xA1 as UInt8, count: 32)
    // A later V1 row, which says other things, and infers the reason.
    let facts = #"{"productId":"weekly","quantity":1,"revocationDate":1789999500000,"price":1,"inferred":["price"]}"#
    for table in ["purchases", "purchase_marks"] {
      let isMark = table == "purchase_marks"
      try await database.execute(
        """
        INSERT INTO \(identifier: table) SELECT app, environment, original_transaction_id, line, 30,
          \(isMark ? "revocationDate" : "weekly"), as_of + 1000, \(Array(facts.utf8)), \(digest), precedence
        FROM purchases WHERE source = 50
        """)
    }
    let program = database.program
    let outcome = try await program.run("explain", SignedFixtures.bundleID, Self.id, "--json")
    let object = try #require(try outcome.objects.first)
    #expect(object["environment"] == "Sandbox" && object["legacyEntitlements"] == "deny")
    let subscription = object["subscriptions"]?.array?.first?.object
    #expect(subscription?["confirmed"] == true && subscription?["statusName"] != "revoked")
    #expect(subscription?["unconfirmed"]?.object?["statusName"] == "revoked")
    let purchase = object["purchases"]?.array?.first?.object
    #expect(purchase?["confirmed"] == true)
    func words(_ field: String) -> [String] {
      (purchase?["fields"]?.object?[field]?.object?["words"]?.array ?? []).map { word in
        "\(word.object?["source"]?.string ?? "") \(word.object?["verdict"]?.string ?? "")"
      }
    }
    #expect(words("productId") == ["signedV2 counts", "notificationV1 outranked"])
    #expect(words("price") == ["signedV2 counts", "notificationV1 givesWay"])
    #expect(words("revocationDate") == ["notificationV1 counts"])
    let rule = purchase?["fields"]?.object?["revocationDate"]?.object?["rule"]
    #expect(rule == "T-014")
    let messages = object["messages"]?.array?.compactMap(\.string) ?? []
    #expect(Set(messages) == [message, String(repeating: "a1", count: 32)])
    let text = try await program.run("explain", SignedFixtures.bundleID, Self.id)
    #expect(
      text.output.contains("confirmed by Apple's signature\n  claimed by unsigned messages, and not counted: revoked"))
    #expect(text.output.contains("claimed revoked 2026-") && text.output.contains("signedV2, notificationV1"))
  }

  @Test func `shows the upgrade that follows from another purchase, and whose word that is`() async throws {
    let (database, _) = try await database()
    let digest = Array(repeating: 0xA2 as UInt8, count: 32)
    let facts = #"{"productId":"weekly","purchaseDate":1790000100000,"expiresDate":1790600000000}"#
    try await database.execute(
      """
      INSERT INTO purchases SELECT app, environment, original_transaction_id, '99', 30, 'weekly', 1790000100000,
        \(Array(facts.utf8)), \(digest), precedence
      FROM purchases WHERE source = 50
      """)
    let outcome = try await database.program.run("explain", SignedFixtures.bundleID, Self.id, "--json")
    let purchases = try #require(try outcome.objects.first?["purchases"]?.array?.compactMap(\.object))
    #expect(purchases.map { $0["line"]?.string } == ["2000000000000077", "99"])
    let upgraded = purchases.map { $0["fields"]?.object?["isUpgraded"]?.object }
    let word = try #require(upgraded[0]?["words"]?.array?.first?.object)
    #expect(upgraded[0]?["value"] == true && upgraded[1] == nil)
    #expect(word["source"] == "notificationV1" && word["verdict"] == "counts" && word["rows"] == ["I-008"])
    #expect(word["message"]?.string == String(repeating: "a2", count: 32))
  }

  @Test func `shows the newest of a customer with many purchases, and all subscriptions whatever the limit`()
    async throws
  {
    let (database, _) = try await database()
    // A row a day before the one that is known, each on a line of its own.
    try await database.execute(
      """
      INSERT INTO purchases SELECT app, environment, original_transaction_id, CONCAT('7', 1000 + seq), source, 'older',
        as_of - seq * 86400000, CONCAT('{"productId":"older","type":"Auto-Renewable Subscription","purchaseDate":',
        1789000000000 - seq * 86400000, ',"expiresDate":', 1789000000000 - (seq - 1) * 86400000, '}'), message, precedence
      FROM purchases JOIN seq_1_to_300 ON 1 = 1
      """)
    let program = database.program
    let text = try await program.run("explain", SignedFixtures.bundleID, Self.id)
    #expect(text.status == 0 && text.output.contains("subscription \(Self.id): "))
    #expect(text.output.contains("the newest 200 of 301 purchases; --limit 301 shows all"))
    #expect(text.output.split(separator: "\n").count { $0.contains("older") } == 199)
    let all = try await program.run("explain", SignedFixtures.bundleID, Self.id, "--limit", "301")
    #expect(all.output.split(separator: "\n").count { $0.contains("older") } == 300)
    #expect(!all.output.contains("shows all"))

    func purchases(_ arguments: String...) async throws -> ([JSONObject], counts: JSONObject?) {
      let outcome = try await program.run(
        ["explain", SignedFixtures.bundleID, Self.id, "--json"] + arguments)
      let object = try #require(try outcome.objects.first)
      #expect(outcome.status == 0 && object["subscriptions"]?.array?.count == 1)
      return (object["purchases"]?.array?.compactMap(\.object) ?? [], object["counts"]?.object)
    }
    let whole = try await purchases()
    #expect(whole.0.count == 301 && whole.counts == nil)
    let cut = try await purchases("--limit", "3")
    #expect(cut.0 == Array(whole.0.suffix(3)))
    #expect(cut.counts?["purchases"] == 301 && cut.counts?["subscriptions"] == 1)
    #expect(try await program.run("explain", SignedFixtures.bundleID, Self.id, "--limit", "0").status == 2)
  }

  @Test func `says that Apple is being asked, why, and until when access is held`() async throws {
    let (database, _) = try await database()
    let program = database.program
    let digest = Array(repeating: 0xA3 as UInt8, count: 32)
    // The signed period ended an hour ago; V1 reports the next one.
    let (hour, now) = (3_600_000 as Int64, WallClock.system.now().sinceEpoch)
    let signed =
      #"{"type":"Auto-Renewable Subscription","purchaseDate":\#(now - 20 * hour),"expiresDate":\#(now - hour)}"#
    let claimed = #"{"purchaseDate":\#(now - hour),"expiresDate":\#(now + 100 * hour)}"#
    try await database.execute("UPDATE purchases SET facts = \(Array(signed.utf8)), as_of = \(now - 20 * hour)")
    try await database.execute("DELETE FROM renewals")
    try await database.execute(
      """
      INSERT INTO purchases SELECT app, environment, original_transaction_id, '99', 30, '', \(now - 2 * hour),
        \(Array(claimed.utf8)), \(digest), precedence
      FROM purchases WHERE source = 50
      """)
    let unasked = try await program.run("explain", SignedFixtures.bundleID, Self.id)
    #expect(
      unasked.output.contains(": expired, NO access\n") && unasked.output.contains("not counted: active by line 99"))
    #expect(unasked.output.contains("Apple cannot be asked: the app has no API key. Add it with `switchyard app add"))
    try await database.execute(
      """
      INSERT INTO credentials (app, kind, name, issuer, sealed, created_at) SELECT id, 'apiKey', 'K', 'I', '', 1 FROM apps
      """)
    try await database.execute(
      """
      INSERT INTO claimed_changes SELECT app, environment, original_transaction_id, \(now - 2 * hour), \(now), 1, 3,
        \(digest), '99' FROM purchases WHERE source = 30
      """)
    try await database.execute(
      """
      INSERT INTO work (app, environment, kind, subject, is_again, attempts, created_at, due_at, reason)
      SELECT app, environment, 2, original_transaction_id, 1, 4, 1, \(now + hour), 'serverFailed 500' FROM claimed_changes
      """)
    let asked = try await program.run("explain", SignedFixtures.bundleID, Self.id)
    #expect(asked.output.contains(": expired, access\n"), "\(asked)")
    #expect(
      asked.output.contains("Waiting for Apple since \(Timestamp(now - 2 * hour).iso8601): message a3a3a3a3a3a3"))
    #expect(
      asked.output.contains(
        "reports a new period and a new renewal state\n  the last attempt failed: serverFailed 500\n"))
    #expect(asked.output.contains("access is held until \(Timestamp(now + 71 * hour).iso8601) at the latest"))
    let object = try #require(
      try await program.run("explain", SignedFixtures.bundleID, Self.id, "--json").objects.first)
    #expect(object["holdAccessHours"] == 72 && object["canAskApple"] == true)
    let subscription = try #require(object["subscriptions"]?.array?.first?.object)
    #expect(subscription["accessHeldUntil"]?.integer == now + 71 * hour && subscription["grantsAccess"] == true)
    #expect(subscription["lookup"]?.object?["because"] == ["period", "renewal"])
    #expect(subscription["lookupFailure"] == "serverFailed 500")
    #expect(try await program.run("app", "set", SignedFixtures.bundleID, "--hold-access", "0").status == 0)
    let unheld = try await program.run("explain", SignedFixtures.bundleID, Self.id)
    #expect(unheld.output.contains(": expired, NO access\n") && unheld.output.contains("Waiting for Apple since"))
  }

  @Test func `says whose it is now, and that an earlier user has no access`() async throws {
    let (database, _) = try await database()
    for (user, asOf) in [("alice", 1_000), ("bob", 2_000)] {
      try await database.execute(
        """
        INSERT INTO attributions SELECT app, environment, original_transaction_id, 2, '', \(user), \(asOf), \(asOf), message
        FROM purchases WHERE source = 50
        """)
      try await database.execute(
        """
        INSERT INTO user_ids SELECT app, environment, \(user), original_transaction_id FROM purchases WHERE source = 50
        """)
    }
    for (id, isFormer) in [("alice", true), ("bob", false), (Self.id, false)] {
      let text = try await database.program.run("explain", SignedFixtures.bundleID, id).output
      let line = "  owner: userID bob" + (isFormer ? "; alice had it before and has no access\n" : "\n")
      #expect(text.contains(line), "\(text)")
      let json = try await database.program.run("explain", SignedFixtures.bundleID, id, "--json").objects.first
      let subscription = json?["subscriptions"]?.array?.first?.object
      #expect(subscription?["owner"] == ["userID": "bob"])
      if isFormer { #expect(subscription?["grantsAccess"] == false) }
    }
  }

  @Test func `says when nothing is known`() async throws {
    let (database, _) = try await database()
    let unknown = try await database.program.run("explain", SignedFixtures.bundleID, "7")
    #expect(unknown.status == 1 && unknown.notes.contains("quarantine list") && unknown.output == "")
    let app = try await database.program.run("explain", "com.example.other", Self.id)
    #expect(app.status == 1 && app.notes.contains("is not registered"))
    #expect(try await database.program.run("explain", SignedFixtures.bundleID, "").status == 2)
    #expect(try await database.program.run("explain", SignedFixtures.bundleID).status == 2)
  }
}
