/// `switchyard migrate` against a simulated App Store, with the service that carries jobs out.
@Suite struct `switchyard migrate` {
  private static let app = MigrateSite.app
  private static let nobody = "999999999999999"

  @Test func `makes history of a table, and accounts for every row and id`() async throws {
    try await MigrateSite.with { site in
      let (place, rows) = (TemporaryDirectory(), site.receipts)
      let customers = rows.count - 1
      let receipt = rows[1].split(separator: ",")[2]
      let table = place.file(
        "receipts.csv",
        Array(
          (rows + ["\(Self.app),again,\(receipt)", rows[2], "\(Self.app),broken,\(receipt.prefix(400))"])
            .joined(separator: "\n").utf8))
      let ids = place.file("ids.txt", Array("\(Self.nobody)\n".utf8))
      let refused = try await site.program.run("migrate", "start", table)
      #expect(refused.status == 4 && refused.notes.contains("--yes"), "\(refused)")
      let job = try await site.start(table, ids, "--app", Self.app, "--environment", "Sandbox")
      let service = try await site.serve()
      let status = try await site.ended(job)
      #expect(await service.end(SIGTERM) == 0)
      #expect(status["state"] == "done", "\(status) \(service.notes.suffix(4_000))")
      #expect(MigrateSite.balances(status), "\(status)")
      let accounts = status["accounts"]?.object ?? [:]
      #expect(accounts["in"]?.integer == Int64(customers + 4))
      #expect(accounts["usable"]?.integer == Int64(customers + 1), "\(accounts)")
      #expect(accounts["duplicates"] == 2 && accounts["links"] == 1)
      #expect(accounts["rejected"] == ["truncated": 1])
      #expect(accounts["unknown"] == 1 && accounts["open"] == 0 && accounts["failed"] == 0, "\(accounts)")
      // Every purchase that the simulator tells of is known, by Apple's signed word.
      let purchases = try await site.apple.purchases(of: Self.app)
      let known = Set(
        try await site.database.rows(
          "SELECT DISTINCT original_transaction_id AS id FROM purchases WHERE source = 50"
        ).map { try $0.text("id") })
      let told = Set(
        rows.dropFirst().compactMap { $0.split(separator: ",").dropFirst().first.map(String.init) })
      // What a customer bought is in Apple's history, whichever of it was in the receipt.
      let all = Set(purchases.compactMap { $0["transaction"]?.object?["originalTransactionId"]?.string })
      #expect(!known.isEmpty && known.isSubset(of: all))
      let asked = try await site.database.rows("SELECT id FROM migration_ids WHERE state = 2").map { try $0.text("id") }
      #expect(known.isSuperset(of: asked))
      let users = try await site.database.rows("SELECT DISTINCT value AS id FROM attributions")
      #expect(try Set(users.map { try $0.text("id") }).isSuperset(of: told.union(["again"])))
    }
  }

  @Test func `reads a table of the old back end, and tells what it rejected`() async throws {
    try await MigrateSite.with(customers: 16) { site in
      let rows = site.receipts.dropFirst().map { $0.split(separator: ",").map(String.init) }
      let old = try await PrivateMariaDB.shared.database()
      let connection = try await Connection.open(old)
      try await connection.read { session throws(DatabaseError) in
        try session.run(
          """
          CREATE TABLE purchases_old (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, user_id INT NOT NULL,
            latest_receipt MEDIUMTEXT NULL, created_at DATE NOT NULL)
          """)
        for (number, row) in rows.enumerated() {
          let text = number % 4 == 1 ? "0x" + row[2].utf8.map { String($0, radix: 16) }.joined() : row[2]
          _ = try session.execute(
            """
            INSERT INTO purchases_old VALUES (\(UInt64(1) << 63 + UInt64(number)), \(number), \(text), '2026-01-01')
            """)
        }
        _ = try session.execute("INSERT INTO purchases_old VALUES (1, 900, 'n/a!', '2026-01-01')")
        _ = try session.execute("INSERT INTO purchases_old VALUES (2, 901, NULL, '2026-01-01')")
        _ = try session.execute("INSERT INTO purchases_old VALUES (3, 902, 'n/a!', '2030-01-01')")
      }
      await connection.close()
      guard case .socket(let socket) = old.address else { return }
      var program = site.program
      program.environment["SWITCHYARD_SOURCE_DATABASE"] =
        "mysql://\(old.user)@localhost/\(old.database ?? "")?socket=\(socket)"
      let plan = site.database.place.path + "/plan.json"
      let source = ["--table", "purchases_old", "--where", "created_at < '2027-01-01'", "--app", Self.app]
      let planned = try await program.run(["migrate", "plan", "--out", plan] + source + site.roots)
      #expect(planned.status == 0, "\(planned)")
      #expect(planned.output.contains("key id, receipts in latest_receipt, users in user_id"), "\(planned)")
      #expect(planned.output.contains("\(rows.count + 2) in = \(rows.count) usable + 0 duplicates"), "\(planned)")
      let kept = try JSONReader.read(Array(Program.text(plan).utf8)).object
      #expect(
        kept?["sources"]?.array?.first?.object?["columns"]
          == ["key": "id", "receipt": "latest_receipt", "user": "user_id", "app": .null, "id": .null],
        "\(planned)")
      let refused = try await program.run("migrate", "apply", plan)
      #expect(refused.status == 4, "\(refused)")
      let here = try await program.run(["migrate", "apply", plan, "--yes", "--here"] + site.roots)
      #expect(here.status == 3 && here.output.contains("migration 1"), "\(here)")
      let status = try await site.status(1)
      #expect(status["state"] == "done" && MigrateSite.balances(status), "\(status)")
      #expect(status["accounts"]?.object?["rejected"] == ["empty": 1, "notBase64": 1])
      #expect(status["accounts"]?.object?["usable"]?.integer == Int64(rows.count))
      let rejects = site.database.place.file("rejects.jsonl", [])
      let report = try await program.run("migrate", "report", "1", "--rejects", rejects)
      #expect(report.status == 3, "\(report)")
      #expect(
        Program.text(rejects)
          == #"{"key":"1","user_id":"900","receipt":"n/a!","reason":"notBase64"}"# + "\n"
          + #"{"key":"2","user_id":"901","reason":"empty"}"# + "\n")
      #expect(
        report.output.contains("They balance.") && report.output.contains("| \(Self.app) | Sandbox |"), "\(report)")
      let watched = try await program.run("migrate", "status", "1", "--watch", "--json")
      #expect(try watched.objects.last?["state"] == "done", "\(watched)")
      for wrong in [["--column", "key=user_id"], ["--column", "receipt=nothing"], ["--where", "1; DROP TABLE x"]] {
        let outcome = try await program.run(["migrate", "plan", "--table", "purchases_old"] + wrong + site.roots)
        #expect(outcome.status != 0, "\(outcome)")
      }
    }
  }

  /// Nothing in such an answer is signed, but the table says whose it is, as it does beside an id alone.
  @Test func `gives what a stored answer without a receipt names to the user of its row`() async throws {
    try await MigrateSite.with(customers: 4) { site in
      let purchases = try await site.apple.purchases(of: Self.app).compactMap { $0["transaction"]?.object }
      let original = try #require(purchases.first?["originalTransactionId"]?.string)
      let row: JSONObject = [
        "original_transaction_id": .string(original), "transaction_id": .string(original),
        "product_id": "com.example.monthly", "purchase_date_ms": "1700000000000",
      ]
      let answer: JSONObject = [
        "status": 0, "environment": "Sandbox", "receipt": ["bundle_id": .string(Self.app), "in_app": []],
        "latest_receipt_info": [.object(row)],
      ]
      let cell: JSONObject = ["user_id": "ada", "receipt": .string(String(decoding: answer.encoded(), as: UTF8.self))]
      let place = TemporaryDirectory()
      let table = place.file("answers.jsonl", cell.encoded())
      let job = try await site.start(table, "--app", Self.app)
      let service = try await site.serve()
      let status = try await site.ended(job)
      #expect(await service.end(SIGTERM) == 0)
      #expect(status["accounts"]?.object?["usable"] == 1, "\(status)")
      let users = try await site.database.rows(
        "SELECT value FROM attributions WHERE original_transaction_id = \(original)")
      #expect(try users.map { try $0.text("value") }.contains("ada"))
      let explained = try await site.program.run("explain", Self.app, "ada", "--json")
      #expect(try explained.objects.first?["accounts"]?.array?.isEmpty == false, "\(explained)")
    }
  }

  @Test func `takes whatever the old back end kept, in one folder, and writes rejects to be fed again`() async throws {
    try await MigrateSite.with(customers: 8) { site in
      let rows = site.receipts.dropFirst().map { $0.split(separator: ",").map(String.init) }
      let folder = TemporaryDirectory()
      _ = folder.file(
        "a.json", Array("[\n  {\"user_id\": \"1\", \"receipt\": \"\(rows[0][2])\"},\n\"\(rows[1][2])\"]".utf8))
      _ = folder.file(
        "b.jsonl",
        Array("{\"receipt-data\":\"\(rows[2][2])\",\"password\":\"\(String(repeating: "a", count: 32))\"}\n".utf8))
      _ = folder.file("c.txt", Array((rows[3][2].replacing("+", with: "&#43;") + "\nn/a!\n").utf8))
      _ = folder.file("d.csv", Array("user_id,original_transaction_id\n7,\(Self.nobody)\n".utf8))
      let job = try await site.start(folder.path, "--app", Self.app, "--environment", "Sandbox")
      let service = try await site.serve()
      let status = try await site.ended(job)
      #expect(await service.end(SIGTERM) == 0)
      #expect(status["state"] == "done", "\(status)")
      #expect(status["accounts"]?.object?["usable"] == 5 && MigrateSite.balances(status), "\(status)")
      #expect(status["accounts"]?.object?["rejected"] == ["notBase64": 1])
      let (report, file) = (["migrate", "report", "\(job)", "--rejects"], site.database.place.file("mended.jsonl", []))
      #expect(try await site.program.run(report + ["\(folder.path)/a.json"]).status == 2, "it is read")
      #expect(try await site.program.run(report + [file]).status == 3)
      let rejects = Program.text(file)
      #expect(rejects.contains(#""reason":"notBase64""#) && rejects.contains("c.txt"), "\(rejects)")
      let mended = site.database.place.file("mended.jsonl", Array(rejects.replacing("n/a!", with: rows[4][2]).utf8))
      let again = try await site.program.run(
        ["migrate", "start", mended, "--app", Self.app, "--here", "--yes"] + site.roots)
      #expect(again.status == 0, "\(again)")
      let ids = try await Program().run(
        ["extract", "--format", "ids", "--root", "\(site.apple.directory)/receipt-root.der", folder.path])
      #expect(
        ids.output.split(separator: "\n").allSatisfy { $0.allSatisfy(\.isNumber) } && !ids.output.isEmpty, "\(ids)")
    }
  }

  @Test func `is taken up by a command where no service runs, paused or running`() async throws {
    try await MigrateSite.with(customers: 4) { site in
      let table = site.table(in: site.database.place)
      for isPaused in [false, true] {
        let job = try await site.start(table, "--app", Self.app)
        if isPaused { #expect(try await site.program.run("migrate", "pause", "\(job)").status == 0) }
        let resume = ["migrate", "resume", "\(job)", "--here"] + site.roots
        let here = try await site.program.run(resume)
        // Some rows are damaged.
        #expect(here.status == 3 && here.notes.contains("migration \(job) is done"), "\(here)")
        #expect(here.output.contains("is running") == isPaused, "\(here)")
        let status = try await site.status(job)
        #expect(status["state"] == "done" && MigrateSite.balances(status), "\(status)")
        let ended = try await site.program.run(resume)
        #expect(ended.status == 1 && ended.notes.contains("only a paused or failed one"), "\(ended)")
      }
      #expect(try await site.program.run(["migrate", "resume", "9", "--here"] + site.roots).status == 1)
    }
  }
}
