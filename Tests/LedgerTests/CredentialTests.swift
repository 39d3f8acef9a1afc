@Suite struct `An app's shared secrets` {
  private let now = SignedStory.start
  private let keys = Keyring(current: .generate())

  @Test func `are two at once, open in their own place only, and end when they are retired`() async throws {
    let fixture = try await LedgerFixture()
    let (app, keys) = (fixture.app, keys)
    try await fixture.pool.read { [now] session throws(DatabaseError) in
      for (name, secret) in [("first", "alpha"), ("second", "beta")] {
        try CredentialTable.put(
          Array(secret.utf8), kind: .sharedSecret, name: name, issuer: "", of: app, sealedWith: keys, at: now,
          in: session)
      }
      func accepted(_ keys: Keyring = keys) throws(DatabaseError) -> [Bool] {
        let directory = try AppTable.directory(with: keys, in: session)
        return ["alpha", "beta", "gamma"].map {
          directory.accepts($0, of: app)
        }
      }
      #expect(try accepted() == [true, true, false])
      #expect(try AppTable.directory(in: session).hasSecret(app) == false)
      // Under a new master key the old one still opens them.
      let rotated = Keyring(current: .generate(), previous: keys.keys)
      #expect(try accepted(rotated) == [true, true, false])

      #expect(try CredentialTable.retire("first", kind: .sharedSecret, of: app, at: now, in: session))
      #expect(try !CredentialTable.retire("first", kind: .sharedSecret, of: app, at: now, in: session))
      #expect(try accepted() == [false, true, false])
      let kept = try CredentialTable.open(.sharedSecret, with: keys, retired: true, in: session)
      #expect(kept.opened.map(\.secret) == [Array("alpha".utf8), Array("beta".utf8)])
      #expect(kept.opened.map(\.retiredAt) == [now, nil] && kept.unopened.isEmpty)
    }
    await fixture.pool.close()
  }

  @Test func `that were moved or sealed elsewhere do not open, and do not hinder the others`() async throws {
    let fixture = try await LedgerFixture()
    let (app, keys) = (fixture.app, keys)
    try await fixture.pool.read { [now] session throws(DatabaseError) in
      for name in ["moved", "good"] {
        try CredentialTable.put(
          Array(name.utf8), kind: .sharedSecret, name: name, issuer: "", of: app, sealedWith: keys, at: now,
          in: session)
      }
      try CredentialTable.put(
        Array("foreign".utf8), kind: .sharedSecret, name: "foreign", issuer: "", of: app,
        sealedWith: Keyring(current: .generate()), at: now, in: session)
      _ = try session.execute("UPDATE credentials SET name = 'elsewhere' WHERE name = 'moved'")
      let found = try CredentialTable.open(.sharedSecret, with: keys, in: session)
      #expect(found.opened.map(\.name) == ["good"])
      #expect(Set(found.unopened.map(\.name)) == ["elsewhere", "foreign"])
      #expect(try AppTable.directory(with: keys, in: session).unopened.count == 2)
      #expect(found.unopened.filter(\.isOfAnotherKey).map(\.name) == ["foreign"], "the other is damaged")
      let ended = try CredentialTable.unopened(with: keys, in: session)
      #expect(Set(ended.map(\.name)) == ["elsewhere", "foreign"])
      for credential in ended { try CredentialTable.delete(credential, in: session) }
      #expect(try CredentialTable.unopened(with: keys, in: session).isEmpty)
      #expect(try CredentialTable.list(of: app, in: session).map(\.name) == ["good"])
    }
    await fixture.pool.close()
  }
}
