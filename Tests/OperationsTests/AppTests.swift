@Suite struct `An operation on an app` {
  private let keys = KeySource(Keyring(current: MasterKey.generate()))
  private let now = Operated.now
  private let kim = Operated.kim

  private func secret(_ text: String) throws -> SharedSecret { try #require(SharedSecret(Array(text.utf8))) }

  @Test func `registers it with its secrets, and opens the keys only to seal`() async throws {
    let here = try await Operated()
    let opened = Atomic(0)
    let source = KeySource { [keyring = Keyring(current: MasterKey.generate())] _ in
      opened.add(1, ordering: .relaxed)
      return keyring
    }
    // The first that comes becomes the database's.
    _ = try await source.keys(for: here.connection)
    let register = RegisterApp(
      "com.example.new", appAppleID: 7, apiKey: .init(pem: Array("pem".utf8), id: "K1", issuer: "I1"),
      sharedSecret: try secret(" 0123\n"))
    _ = try await here.expect(
      """
      app.add com.example.new register com.example.new, beginning in record; Apple id 7; seal apiKey K1; \
      seal sharedSecret: ticket 4
      """
    ) {
      let plan = try await register.plan(on: here.connection)
      #expect(plan.before == nil && opened.load(ordering: .relaxed) == 1)
      return plan
    } apply: {
      try await register.apply($0, sealedWith: source, by: kim, at: now, on: here.connection)
    }
    let record = try await AppRecord.find("com.example.new", here.connection)
    #expect(record.app.appAppleID == 7 && record.credentials.map(\.kind) == [.apiKey, .sharedSecret])
    let again = try await RegisterApp("com.example.new", appAppleID: 8).plan(on: here.connection)
    #expect(again.changes == ["Apple id 7 to 8"])
    let same = try await RegisterApp("com.example.new", appAppleID: 7).plan(on: here.connection)
    #expect(same.changes == ["nothing to change: com.example.new is registered so"])
    #expect(["a", "com.x-Y_1"].allSatisfy(RegisterApp.isBundleID))
    #expect(!["", "a b", "ä", String(repeating: "a", count: 256)].contains(where: RegisterApp.isBundleID))
  }

  @Test func `adds shared secrets, two at most, and ends one`() async throws {
    let here = try await Operated()
    let keyring = Keyring(current: MasterKey.generate())
    _ = try await KeySource(keyring).keys(for: here.connection)
    let first = try secret("first")
    for one in [first, try secret("second")] {
      let add = AddSharedSecret(one, to: Operated.bundleID)
      try await here.expect("app.secret com.example.app \(one.name(under: keyring)): ticket 4") {
        try await add.plan(on: here.connection)
      } apply: {
        try await add.apply($0, sealedWith: KeySource(keyring), by: kim, at: now, on: here.connection)
      }
    }
    let third = AddSharedSecret(try secret("third"), to: Operated.bundleID)
    try await here.expectRefusal(DatabaseError.self) {
      try await third.apply(
        third.plan(on: here.connection), sealedWith: KeySource(keyring), by: kim, at: now, on: here.connection)
    }
    let retire = RetireSharedSecret(first.name(under: keyring), of: Operated.bundleID)
    try await here.expect("app.secret.retire com.example.app \(first.name(under: keyring)): ticket 4") {
      try await retire.plan(on: here.connection)
    } apply: {
      try await retire.apply($0, by: kim, at: now, on: here.connection)
    }
    try await here.expectRefusal(NoSuchSecret.self) { _ = try await retire.plan(on: here.connection) }
    try await here.expectRefusal(NoSuchSecret.self) {
      try await retire.apply(here.app, by: kim, at: now, on: here.connection)
    }
    #expect(SharedSecret(Array("two words".utf8)) == nil && SharedSecret(Array(" \n".utf8)) == nil)
  }

  @Test func `issues a token and revokes it by its name`() async throws {
    let here = try await Operated()
    let label = String(repeating: "l", count: 61)
    let issue = IssueToken(for: Operated.bundleID, label: label)
    let issued = try await here.expect("app.token com.example.app \(label.dropLast()): ticket 4") {
      try await issue.plan(on: here.connection)
    } apply: {
      try await issue.apply($0, by: kim, at: now, on: here.connection)
    }
    let digest = Digest.sha256(Array(issued.token.utf8)).hex
    let name = try #require(DigestPrefix(String(digest.prefix(9)), minimum: RevokeToken.shortestName))
    let revoke = RevokeToken(name)
    let count = try await here.expect("app.token.revoke com.example.app \(name.text): ticket 4") {
      let plan = try await revoke.plan(on: here.connection)
      #expect(plan.app == here.app && plan.tokens == 1)
      return plan
    } apply: {
      try await revoke.apply($0, by: kim, at: now, on: here.connection)
    }
    #expect(count == 1)
    try await here.expectRefusal(NoSuchToken.self) { _ = try await revoke.plan(on: here.connection) }
    try await here.expectRefusal(NoSuchApp.self) {
      _ = try await RevokeToken(name, of: "com.example.none").plan(on: here.connection)
    }
    #expect(DigestPrefix("12g4") == nil && DigestPrefix("123") == nil && DigestPrefix("ABC1")?.text == "abc1")
  }

  @Test func `sets policies, and writes nothing where they are so already`() async throws {
    let here = try await Operated()
    _ = try await keys.keys(for: here.connection)
    var set = SetAppPolicies(of: Operated.bundleID)
    (set.accessHold, set.unprovenForwarding) = (.off, .deny)
    set.consumption = SetAppPolicies.Consumption(.ask(url: "https://example.com/s3cret"), token: [0x61])
    set.answerReadings = try RuleChoices(["Y-011", "Y-009", "Y-009"])
    set.answerClients = .token
    let policies = set
    _ = try await here.expect(
      """
      app.set com.example.app hold access 72 hours to off; forward unproven messages allow to deny; consumption ignore to ask example.com; a new token for the back end that is asked about \
      consumption; answer readings default to Y-009, Y-011; answer clients password to token: ticket 4
      """
    ) {
      try await policies.plan(on: here.connection)
    } apply: {
      try await policies.apply($0, sealedWith: keys, by: kim, at: now, on: here.connection)
    }
    set.consumption = nil
    let plan = try await set.plan(on: here.connection)
    let before = try await here.contents()
    try await set.apply(plan, sealedWith: keys, by: kim, at: now + .seconds(1), on: here.connection)
    #expect(plan.changes.isEmpty)
    #expect(try await here.contents() == before)

    let directory = try await here.connection.read { session throws(DatabaseError) in
      try AppTable.directory(in: session)
    }
    #expect(directory.answerReadings(of: here.app) == ["Y-009", "Y-011"])
    #expect(directory.answerClients(of: here.app) == .token)
    set.answerReadings = .defaults
    let defaults = try await set.plan(on: here.connection)
    #expect(defaults.changes == ["answer readings Y-009, Y-011 to default"])
    try await set.apply(defaults, sealedWith: keys, by: kim, at: now, on: here.connection)
    let cleared = try await here.connection.read { [app = here.app] session throws(DatabaseError) in
      try PolicyTable.answerReadings(of: app, in: session)
    }
    #expect(cleared.isEmpty)
  }

  @Test(arguments: [
    (["Y-999"], "no rule of answers"), (["Y-008", "Y-009"], "same rule"), (["Y-002"], "proven"),
  ])
  func `chooses among open readings alone`(ids: [String], why: String) {
    let refused = #expect(throws: AnswerReadingRefused.self) { try RuleChoices(ids) }
    #expect(refused?.description.contains(why) == true && refused?.exitStatus == .usage)
  }

  @Test func `names the old back end, and keeps it while the stage needs it`() async throws {
    let here = try await Operated()
    let url = "https://old.example.com/apple?key=s3cret"
    let name = SetLegacyURL(url, of: Operated.bundleID, in: .sandbox)
    let end = SetLegacyURL(nil, of: Operated.bundleID, in: .sandbox)
    #expect(try await end.plan(on: here.connection).change == nil)
    try await here.expect("app.legacy-url com.example.app Sandbox: forward to old.example.com: ticket 4") {
      try await name.plan(on: here.connection)
    } apply: {
      try await name.apply($0, by: kim, at: now, on: here.connection)
    }
    #expect(try await name.plan(on: here.connection).change == nil)
    try await here.execute("UPDATE flags SET stage = 'legacy'")
    try await here.expectRefusal(LegacyNeedsURL.self) { _ = try await end.plan(on: here.connection) }
    try await here.execute("UPDATE flags SET stage = 'record'")
    try await here.expect("app.legacy-url com.example.app Sandbox: stop forwarding to old.example.com: ticket 4") {
      try await end.plan(on: here.connection)
    } apply: {
      try await end.apply($0, by: kim, at: now, on: here.connection)
    }
    #expect(BackEndURL.isUsable(url) && BackEndURL.isReadableByOthers("http://example.com/"))
    #expect(!BackEndURL.isReadableByOthers("http://127.0.0.1:1/"))
    #expect(!["ftp://a", "https://", "https://u:p@example.com", "https://a b"].contains(where: BackEndURL.isUsable))
  }

  @Test func `takes it out of service with its tokens`() async throws {
    let here = try await Operated()
    let issue = IssueToken(for: Operated.bundleID, label: "")
    _ = try await issue.apply(here.app, by: kim, at: now, on: here.connection)
    let remove = RemoveApp(Operated.bundleID)
    try await here.expect("app.remove com.example.app 1 tokens ended: ticket 4") {
      try await remove.plan(on: here.connection)
    } apply: {
      try await remove.apply($0, by: kim, at: now, on: here.connection)
    }
    try await here.expectRefusal(NoSuchApp.self) { _ = try await remove.plan(on: here.connection) }
  }

  @Test func `is noted without a reason where none was given`() async throws {
    let here = try await Operated()
    _ = try await IssueToken(for: Operated.bundleID, label: "backend")
      .apply(here.app, by: AuditContext("kim"), at: now, on: here.connection)
    #expect(try await here.audit() == ["app.token com.example.app backend"])
  }
}
