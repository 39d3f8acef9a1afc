@Suite struct `switchyard app` {
  private static let app = "com.example.switch"

  @Test func `adds, shows, lists and removes an app, with an audit of it all`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    let dry = try await program.run("app", "add", Self.app, "--dry-run", "--json")
    #expect(dry.status == 0, "\(dry)")
    #expect(try dry.objects.first?["dryRun"] == true)
    #expect(try await program.run("app", "list", "--json").output == "")

    #expect(try await program.run("app", "add", Self.app).notes.contains("quarantined until --app-apple-id"))
    let changed = try await program.run("app", "add", Self.app, "--app-apple-id", "42")
    #expect(changed.output == "Apple id 42\n")
    let listed = try #require(try await program.run("app", "list", "--json").objects.first)
    #expect(listed["bundleId"] == .string(Self.app))
    #expect(listed["appAppleId"] == 42)
    #expect(listed["stages"] == ["Production": "record", "Sandbox": "record"])

    let refused = try await program.run(["app", "remove", Self.app], input: Array("com.example.other\n".utf8))
    #expect(refused.status == 1)
    #expect(refused.notes.contains("nothing was done"))
    let removed = try await program.run(["app", "remove", Self.app], input: Array("\(Self.app)\n".utf8))
    #expect(removed.status == 0, "\(removed)")
    #expect(try await program.run("app", "list", Self.app).status == 1)
    let audit = try await database.rows("SELECT action, actor FROM audit ORDER BY id")
    #expect(try audit.map { try $0.text("action") } == ["app.add", "app.add", "app.remove"])
    #expect(try audit.allSatisfy { try $0.text("actor") != "" })
  }

  @Test func `takes the only policy for V1 data silently`() async throws {
    let program = try await TestDatabase.migrated().program
    #expect(try await program.run("app", "set", Self.app, "--legacy-entitlements", "deny").status == 1)
    _ = try await program.run("app", "add", Self.app)
    let same = try await program.run("app", "set", Self.app, "--legacy-entitlements", "deny")
    #expect(same.output == "nothing to change: it is deny\n")
    for wrong in [["app", "set", Self.app], ["app", "set", Self.app, "--legacy-entitlements", "allow"]] {
      #expect(try await program.run(wrong).status == 2)
    }
  }

  @Test func `sets whether messages that nobody vouches for are forwarded`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    func policy() async throws -> JSONValue? {
      try await program.run("app", "list", Self.app, "--json").objects.first?["forwardUnproven"]
    }
    #expect(try await policy() == "allow")
    let dry = try await program.run("app", "set", Self.app, "--forward-unproven", "deny", "--dry-run")
    #expect(dry.output == "would: forward unproven messages allow to deny\n")
    #expect(try await policy() == "allow")
    let changed = try await program.run("app", "set", Self.app, "--forward-unproven", "deny", "--json")
    let object = try #require(try changed.objects.first)
    #expect(object["forwardUnproven"] == "deny" && object["forwardUnprovenBefore"] == "allow", "\(changed)")
    #expect(try await policy() == "deny")
    #expect(try await program.run("app", "list", Self.app).output.contains("unproven  deny: "))
    #expect(try await program.run("app", "set", Self.app, "--forward-unproven", "maybe").status == 2)
    let audit = try await database.rows("SELECT reason FROM audit WHERE action = 'app.set'")
    #expect(try audit.map { try $0.text("reason") } == ["forward unproven messages allow to deny"])
  }

  @Test func `sets for how many hours access is held, 72 unless told`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    func hours() async throws -> JSONValue? {
      try await program.run("app", "list", Self.app, "--json").objects.first?["holdAccessHours"]
    }
    #expect(try await hours() == 72)
    #expect(try await program.run("app", "list", Self.app).output.contains("hold      72 hours\n"))
    let dry = try await program.run("app", "set", Self.app, "--hold-access", "24h", "--dry-run")
    #expect(dry.output == "would: hold access 72 hours to 24 hours\n")
    #expect(try await hours() == 72)
    let changed = try await program.run("app", "set", Self.app, "--hold-access", "0", "--json")
    let object = try #require(try changed.objects.first)
    #expect(object["holdAccessHours"] == 0 && object["holdAccessHoursBefore"] == 72, "\(changed)")
    #expect(try await hours() == 0)
    #expect(try await program.run("app", "list", Self.app).output.contains("hold      off\n"))
    let again = try await program.run("app", "set", Self.app, "--hold-access", "0")
    #expect(again.output == "nothing to change: it is hold access off\n")
    for wrong in ["73", "-1", "a day"] {
      #expect(try await program.run("app", "set", Self.app, "--hold-access", wrong).status == 2, "\(wrong)")
    }
    let audit = try await database.rows("SELECT reason FROM audit WHERE action = 'app.set'")
    #expect(try audit.map { try $0.text("reason") } == ["hold access 72 hours to off"])
  }

  @Test func `gives a token once, keeps its digest alone, and ends it`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    let made = try await program.run("app", "token", Self.app, "--label", "backend")
    let token = String(made.output.dropLast())
    #expect(token.hasPrefix("sy_") && token.utf8.count > 40)
    let kept = try #require(try await database.rows("SELECT digest FROM app_tokens").first)
    #expect(try kept.bytes("digest") == Digest.sha256(Array(token.utf8)).bytes)

    let shown = try #require(try await program.run("app", "list", Self.app, "--json").objects.first)
    let name = try #require(shown["tokens"]?.array?.first?.object?["name"]?.string)
    #expect(shown["tokens"]?.array?.first?.object?["label"] == "backend")
    #expect(try await program.run("app", "token", Self.app, "--revoke", "00000000").status == 1)
    #expect(try await program.run("app", "token", "--revoke", "00000000").status == 1)
    #expect(try await program.run("app", "token", "com.example.other", "--revoke", name).status == 1)
    #expect(try await program.run("app", "token", "--revoke", name).output == "revoked \(name)\n")
    #expect(try await program.run("app", "token", Self.app, "--revoke", name).status == 1)
  }

  @Test func `knows a client by its certificate, which is ended as a token is`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    let der = try ApplePKI.generate(at: Timestamp(1_780_000_000_000)).root.certificate.der
    let (file, hex) = (database.place.file("client.der", der), Digest.sha256(der).hex)
    let tried = try await program.run("app", "token", Self.app, "--certificate", file, "--dry-run")
    #expect(tried.output == "would: know a client of \(Self.app) by the certificate \(hex)\n", "\(tried)")
    #expect(try await database.rows("SELECT 1 FROM app_tokens").isEmpty)
    let accepted = try await program.run("app", "token", Self.app, "--certificate", file, "--label", "gateway")
    #expect(accepted.output == "accepted \(hex)\n", "\(accepted)")
    let shown = try #require(try await program.run("app", "list", Self.app, "--json").objects.first)
    let token = try #require(shown["tokens"]?.array?.first?.object)
    #expect(token["label"] == "gateway")
    let name = try #require(token["name"]?.string)
    #expect(try await program.run("app", "token", "--revoke", name).output == "revoked \(name)\n")
    let unreadable = database.place.file("no.pem", Array("none".utf8))
    #expect(try await program.run("app", "token", Self.app, "--certificate", unreadable).status == 2)
    #expect(try await program.run("app", "token", "--revoke", name, "--certificate", file).status == 2)
    let header = try await program.run("serve", "--client-certificate-header", "X-Cert")
    #expect(header.status == 2 && header.notes.contains("--trusted-proxy"), "\(header)")
  }

  @Test func `says what a token and a removal would be before there is one`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    _ = try await program.run("app", "add", Self.app)
    let tried = try await program.run("app", "token", Self.app, "--label", "backend", "--dry-run", "--json")
    #expect(tried.status == 0, "\(tried)")
    #expect(try tried.objects == [["app": .string(Self.app), "dryRun": true, "label": "backend"]])
    #expect(
      try await program.run("app", "token", Self.app, "--dry-run").output == "would: make a token of \(Self.app)\n")
    #expect(try await database.rows("SELECT 1 FROM app_tokens").isEmpty)
    let token = try await program.run("app", "token", Self.app).output.dropLast()
    let name = String(Digest.sha256(Array(token.utf8)).hex.prefix(8))
    let revoking = try await program.run("app", "token", "--revoke", name, "--dry-run")
    #expect(revoking.output == "would: revoke \(name) of \(Self.app)\n", "\(revoking)")
    #expect(try await program.run("app", "token", Self.app, "--revoke", "00000000", "--dry-run").status == 1)
    let removing = try await program.run("app", "remove", Self.app, "--dry-run", "--json")
    let (would, does): (JSONObject, JSONObject) = (
      ["app": .string(Self.app), "dryRun": true, "tokensEnded": 1],
      ["app": .string(Self.app), "dryRun": false, "tokensEnded": 1]
    )
    #expect(try removing.objects == [would], "\(removing)")
    #expect(try await database.rows("SELECT 1 FROM app_tokens WHERE revoked_at IS NOT NULL").isEmpty)
    #expect(try await program.run("app", "remove", Self.app, "--yes", "--json").objects == [does])
    #expect(try await program.run("app", "list", Self.app).status == 1)
  }

  @Test func `seals credentials under a master key made at first use`() async throws {
    let database = try await TestDatabase.migrated()
    let place = database.place
    let program = Program(options: ["--data-dir", "\(place.path)/new"], environment: database.program.environment)
    let key = place.file("AuthKey.p8", try SigningKey.generate().privateKey.pem())
    let secret = place.file("secret.txt", Array("0123456789abcdef0123456789abcdef\n".utf8))
    let options = ["--key-file", key, "--key-id", "KEY1", "--issuer", "issuer-1", "--shared-secret-file", secret]
    let added = try await program.run(["app", "add", Self.app] + options)
    #expect(added.status == 0, "\(added)")
    #expect(added.notes.contains("made a master key"))
    let again = try await program.run(["app", "add", Self.app] + options)
    #expect(!again.notes.contains("made a master key"))
    let rows = try await database.rows("SELECT kind, name, sealed FROM credentials ORDER BY kind")
    #expect(try rows.map { try $0.text("kind") } == ["apiKey", "sharedSecret"])
    #expect(try rows.first?.text("name") == "KEY1")
    for row in rows { #expect(try !row.bytes("sealed").contains(subsequence: "0123456789abcdef")) }
    #expect(Files.contents(of: "\(place.path)/data/master.key", limit: 100)?.count == 65)
  }

  @Test func `refuses files that hold no key or no secret, and repeats nothing of them`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, place) = (database.program, database.place)
    let wrong = place.file("wrong", Array("this is two secrets\nand more".utf8))
    for options in [["--key-file", wrong, "--key-id", "K", "--issuer", "I"], ["--shared-secret-file", wrong]] {
      let outcome = try await program.run(["app", "add", Self.app] + options)
      #expect(outcome.status == 1)
      #expect(outcome.notes.contains(wrong))
      #expect(!outcome.notes.contains("two secrets"))
    }
    let key = place.file("short.key", Array("abc".utf8))
    let secret = place.file("secret.txt", Array("0123456789abcdef".utf8))
    let outcome = try await program.run(
      "app", "add", Self.app, "--shared-secret-file", secret, "--master-key-file", key)
    #expect(outcome.status == 1)
    #expect(outcome.notes.contains("holds no master key"))
    let absent = try await program.run(
      "app", "add", Self.app, "--shared-secret-file", secret, "--master-key-file", "\(place.path)/absent")
    #expect(absent.status == 1)
    #expect(try await database.rows("SELECT 1 FROM apps").isEmpty)
  }
}

extension [UInt8] {
  func contains(subsequence text: String) -> Bool { firstRange(of: Array(text.utf8)) != nil }
}
