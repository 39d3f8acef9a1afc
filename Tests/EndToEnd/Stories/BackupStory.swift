/// A ledger restored from a dump, with its master key and without it.
@Suite struct BackupStory {
  private static let app = SignedFixtures.bundleID
  private let fixtures: SignedFixtures

  init() throws { fixtures = try SignedFixtures() }

  /// How the tools of MariaDB reach the server of a database.
  private func server(_ database: TestDatabase) throws -> String {
    guard case .socket(let socket) = database.configuration.address else { throw DatabaseError(.misuse, "no socket") }
    return "--socket=\(socket)"
  }

  /// A ledger with a customer, a message in quarantine and a shared secret.
  private func lived() async throws -> TestDatabase {
    let database = try await TestDatabase.migrated()
    _ = try await database.quarantine(
      try fixtures.body(fixtures.notification()), code: "unknownApp", receivedAt: SignedFixtures.signedAt)
    _ = try await database.program.run("app", "add", Self.app)
    let secret = database.place.file("secret", Array("0123456789abcdef0123456789abcdef".utf8))
    #expect(try await database.program.run("app", "secret", Self.app, "--shared-secret-file", secret).status == 0)
    let trust = ["--trust-root", fixtures.root(in: database.place)]
    #expect(try await database.program.run(["quarantine", "replay", "--all"] + trust).status == 0)
    _ = try await database.quarantine([1, 2, 3], code: "notJSON", receivedAt: SignedFixtures.signedAt + 1)
    return database
  }

  @Test func `serves with its key; without it says what is missing, and still answers`() async throws {
    let database = try await lived()
    let (place, name) = (database.place, database.configuration.database ?? "")
    let restored = "\(name)_restored"
    let url = try #require(database.program.environment["SWITCHYARD_DATABASE"])
      .replacing("/\(name)?", with: "/\(restored)?")
    for folder in ["dumps", "keys"] { _ = FileMetadata.makeDirectory("\(place.path)/\(folder)") }
    let trust = """
      switchyard() { case "$1 ${2:-}" in
        "db rebuild") command switchyard "$@" --trust-root '\(fixtures.root(in: place))' ;;
        *) command switchyard "$@" ;;
      esac; }
      """
    let printed = try await Runbook("backup").type(
      [
        "SERVER": try server(database), "DATABASE": name, "RESTORED": restored, "URL": url,
        "KEY": "\(place.path)/data/master.key", "BACKUP": "\(place.path)/dumps", "VAULT": "\(place.path)/keys",
      ], database.program, in: place.path, after: trust)
    #expect(printed.last?.contains("ok    stored bodies   the oldest and the newest open") == true, "\(printed)")
    #expect(printed.last?.contains("equal: 1 messages") == true, "\(printed)")
    try await withKey(url, in: place)
    try await withoutKey(url, in: place)
  }

  /// The program on the restored ledger, which finds this key.
  private func program(_ url: String, _ directory: String) -> Program {
    Program(options: ["--data-dir", directory], environment: ["SWITCHYARD_DATABASE": url])
  }

  private func withKey(_ url: String, in place: TemporaryDirectory) async throws {
    let program = program(url, "\(place.path)/data")
    let service = try await RunningProgram.serve(program, ["--trust-root", fixtures.root(in: place)])
    #expect(await service.end(SIGTERM) == 0)
    #expect(try await program.run("inbox", "show", "--bodies").output.contains("signedPayload"))
  }

  private func withoutKey(_ url: String, in place: TemporaryDirectory) async throws {
    let (trust, client) = (["--trust-root", fixtures.root(in: place)], HTTPClient())
    let program = program(url, "\(place.path)/elsewhere")
    let digest = try #require(
      try await program.run("quarantine", "list", "--json").objects.first?["digest"]?.string)
    // No key at all, then one that is not the database's.
    for (message, file) in [
      ("there is data sealed under it", nil),
      ("is sealed under the master key", place.file("other.key", MasterKey.generate().fileContents)),
    ] {
      let key = file.map { ["--master-key-file", $0] } ?? []
      for words in [
        ["inbox", "show", "--bodies"], ["quarantine", "list", digest], ["quarantine", "replay", "--all"] + trust,
        ["db", "rebuild"] + trust, ["app", "secret", Self.app, "--shared-secret-file", "\(place.path)/secret"],
        ["serve", "--listen", "127.0.0.1:0"],
      ] {
        let outcome = try await program.run(words + key)
        #expect(outcome.status == 1 && outcome.notes.contains(message), "\(words): \(outcome)")
        #expect(outcome.notes.contains("switchyard db key --accept-new"), "\(words): \(outcome)")
      }
      let checks = try await program.run(["doctor"] + key)
      #expect(checks.status == 1 && checks.output.contains("fail  stored bodies   sealed under the master key"))
      let keys = try await program.run(["db", "key"] + key)
      #expect(keys.status == 5)
      #expect(keys.notes.contains(message), "\(keys)")
      #expect(FileMetadata("\(place.path)/elsewhere/master.key") == nil)
    }
    // What needs no key goes on.
    #expect(try await program.run("explain", Self.app, "2000000000000077").status == 0)
    #expect(try await program.run("inbox", "show").status == 0)
    let plan = try await program.run("db", "key", "--accept-new", "--json")
    #expect(try plan.objects.first?["deleted"]?.array?.count == 1, "\(plan)")
    let token = try #require(
      try await program.run("app", "token", Self.app, "--json").objects.first?["token"]?.string)
    let service = try await RunningProgram.serve(program, trust)
    let answer = try await client.send(
      ClientRequest(
        url: "\(service.url)/v1/apps/\(Self.app)/purchases/2000000000000077",
        headers: [("Authorization", "Bearer \(token)")]))
    #expect(answer.status == 200, "\(answer)")
    #expect(await service.end(SIGTERM) == 0)
    await client.shutdown()
    let gone = try await program.run("inbox", "show", "--bodies")
    #expect(
      gone.status == 1 && gone.notes.contains("does not open: sealed under master key") && gone.output.isEmpty,
      "\(gone)")
    #expect(
      try await program.run("app", "secret", Self.app, "--shared-secret-file", "\(place.path)/secret").status == 0)
  }
}
