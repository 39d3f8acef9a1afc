@Suite struct `An app of the old generation` {
  private static let app = "com.example.legacy"
  private static let secret = "5ec7e75ec7e75ec7e75ec7e75ec7e75e"
  private static let next = "0ddba110ddba110ddba110ddba110ddb"

  /// A V1 notification of one renewal; each `number` is another period.
  private static func notification(_ number: Int, password: String, bid: String? = app) -> [UInt8] {
    let day: Int64 = 86_400_000
    let start = 1_700_000_000_000 + Int64(number) * 30 * day
    let row: JSONObject = [
      "quantity": "1", "product_id": "monthly", "transaction_id": .string("30000000\(number)"),
      "original_transaction_id": "300000000", "purchase_date_ms": .string("\(start)"),
      "original_purchase_date_ms": "1700000000000", "expires_date_ms": .string("\(start + 30 * day)"),
      "web_order_line_item_id": .string("40000000\(number)"), "is_trial_period": "false",
      "is_in_intro_offer_period": "false", "subscription_group_identifier": "20500000",
    ]
    let pending: JSONObject = [
      "auto_renew_product_id": "monthly", "original_transaction_id": "300000000", "product_id": "monthly",
      "auto_renew_status": "1",
    ]
    var body: JSONObject = [
      "notification_type": "DID_RENEW", "password": .string(password), "environment": "PROD",
      "auto_renew_product_id": "monthly", "auto_renew_status": "true", "bvrs": "1",
      "unified_receipt": [
        "status": 0, "environment": "Production", "latest_receipt_info": .array([.object(row)]),
        "pending_renewal_info": .array([.object(pending)]),
      ],
    ]
    body["bid"] = bid.map(JSONValue.string)
    return body.encoded()
  }

  private func secretFile(_ secret: String, in place: TemporaryDirectory, _ name: String) -> String {
    place.file(name, Array((secret + "\n").utf8))
  }

  @Test func `is believed by either of two secrets, and waits in quarantine until it is`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, place) = (database.program, database.place)
    #expect(try await program.run("app", "add", Self.app).status == 0)
    let running = try await RunningProgram.inProcess(program)
    let client = HTTPClient()
    func post(_ body: [UInt8]) async throws -> String? {
      let request = ClientRequest(method: "POST", url: running.url + "/notifications", body: body)
      let answer = try await client.send(request)
      #expect(answer.status == 200)
      return try JSONReader.read(answer.body).object?["status"]?.string
    }
    #expect(try await post(Self.notification(1, password: Self.secret)) == "quarantined")
    let waiting = try await program.run("quarantine", "list", "--json").objects
    #expect(waiting.map { $0["code"] } == ["noSharedSecret"])

    let added = try await program.run(
      "app", "secret", Self.app, "--shared-secret-file", secretFile(Self.secret, in: place, "first"), "--json")
    let name = try #require(try added.objects.first?["name"]?.string)
    #expect(added.status == 0 && !added.output.contains(Self.secret) && !added.notes.contains(Self.secret))
    let replayed = try await program.run("quarantine", "replay", "--code", "noSharedSecret")
    #expect(replayed.status == 0, "\(replayed)")
    #expect(try await post(Self.notification(2, password: Self.secret)) == "stored")
    // Apple tries again, meanwhile with the next secret: another message, of the same event.
    let second = secretFile(Self.next, in: place, "second")
    #expect(try await program.run("app", "secret", Self.app, "--shared-secret-file", second).status == 0)
    #expect(try await post(Self.notification(2, password: Self.next)) == "stored")
    #expect(try await post(Self.notification(3, password: Self.next, bid: nil)) == "stored")
    #expect(try await post(Self.notification(4, password: "forged")) == "quarantined")

    let third = try await program.run(
      "app", "secret", Self.app, "--shared-secret-file", secretFile("third", in: place, "third"))
    #expect(third.status == 1 && third.notes.contains("--retire"))
    #expect(try await program.run("app", "secret", Self.app, "--retire", name).status == 0)
    #expect(try await program.run("app", "secret", Self.app, "--retire", name).status == 1)
    let isEnded = try await eventually(within: .seconds(90)) {
      try await post(Self.notification(Int.random(in: 100..<1_000_000), password: Self.secret)) == "quarantined"
    }
    #expect(isEnded)
    await running.end(SIGTERM)
    await client.shutdown()
    #expect(!running.notes.contains(Self.secret))

    // A rebuild needs no secret: what is in the inbox was believed when it came.
    let before = try await program.run("db", "dump")
    #expect(try before.objects.contains { $0["purchase"] == "300000000" })
    #expect(try await program.run("db", "rebuild").status == 0)
    #expect(try await program.run("db", "dump").output == before.output)
  }
}
