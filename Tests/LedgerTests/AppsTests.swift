@Suite struct `An app in the ledger` {
  private let now = SignedStory.start + .days(1)

  @Test func `comes back with all that was known of it, and without its tokens`() async throws {
    let story = try SignedStory(customers: 1, periods: 1)
    let fixture = try await LedgerFixture()
    let app = fixture.app
    _ = try await fixture.ledger.append(story.messages.map { try story.entry($0, for: app) })
    let before = try await fixture.dump()
    let token = try await fixture.pool.read { [now] session throws(DatabaseError) in
      let token = try TokenTable.issue(for: app, label: "back end", at: now, in: session)
      #expect(try AppTable.directory(in: session).app(token: token) == app)
      try AppTable.remove(app, at: now, in: session)
      #expect(try AppTable.find(app.bundleID, in: session) == nil)
      #expect(try AppTable.all(includingRemoved: true, in: session) == [app])
      #expect(try AppTable.directory(in: session).app(token: token) == nil)
      #expect(try AppTable.directory(in: session)[app.bundleID] == nil)
      return token
    }
    try await fixture.pool.read { [now] session throws(DatabaseError) in
      let again = try AppTable.add(bundleID: app.bundleID, appAppleID: 77, at: now, in: session)
      #expect(again.id == app.id && again.appAppleID == 77)
      // An id that is known is not forgotten by adding the app without it.
      #expect(try AppTable.add(bundleID: app.bundleID, appAppleID: nil, at: now, in: session).appAppleID == 77)
      #expect(try AppTable.directory(in: session).app(token: token) == nil)
      let flags = try AppTable.flags(of: again, in: session)
      #expect(flags.map(\.stage) == [.record, .record] && flags.map(\.epoch) == [1, 1])
      #expect(Set(flags.map(\.environment)) == [.production, .sandbox])
    }
    #expect(try await fixture.dump() == before)
    await fixture.pool.close()
  }

  @Test func `has tokens of which only digests are kept, each revoked by its name`() async throws {
    let fixture = try await LedgerFixture()
    let app = fixture.app
    try await fixture.pool.read { [now] session throws(DatabaseError) in
      let kept = try TokenTable.issue(for: app, label: "kept", at: now, in: session)
      let lost = try TokenTable.issue(for: app, label: "lost", at: now + .seconds(1), in: session)
      let digest = Digest.sha256(Array(lost.utf8))
      let other = try AppTable.add(bundleID: "com.example.other", appAppleID: nil, at: now, in: session)
      let name = Array(digest.bytes.prefix(4))
      #expect(try TokenTable.revoke(name, of: other, at: now, in: session) == 0)
      #expect(try TokenTable.revoke(name, of: app, at: now, in: session) == 1)
      #expect(try TokenTable.revoke(name, of: app, at: now, in: session) == 0)
      let directory = try AppTable.directory(in: session)
      #expect(directory.app(token: kept) == app && directory.app(token: lost) == nil)
      #expect(directory.app(token: "") == nil)
      let list = try TokenTable.list(of: app, in: session)
      #expect(list.map(\.label) == ["kept", "lost"] && list.map(\.revokedAt) == [nil, now])
      #expect(list[1].name == digest.hex.prefix(8))
      let stored = try session.query("SELECT digest FROM app_tokens")
      for row in stored { #expect(try row.bytes(0).count == Digest.count) }
      // A token chosen elsewhere is valid once accepted, and again after it was revoked.
      for _ in 0..<2 { try TokenTable.accept(lost, for: app, label: "lost", at: now, in: session) }
      #expect(try AppTable.directory(in: session).app(token: lost) == app)
      #expect(try TokenTable.list(of: app, in: session).count == 2)
    }
    await fixture.pool.close()
  }

  @Test func `has credentials that are sealed for their place alone`() async throws {
    let fixture = try await LedgerFixture()
    let app = fixture.app
    let secret = Array("only the app knows".utf8)
    let (old, new) = (MasterKey.generate(), MasterKey.generate())
    let sealed = try await fixture.pool.read { [now] session throws(DatabaseError) in
      let places: [(CredentialTable.Kind, String)] = [
        (.sharedSecret, "first"), (.apiKey, "KEY1"), (.callbackToken, "consumption"),
      ]
      for (kind, name) in places {
        try CredentialTable.put(
          secret, kind: kind, name: name, issuer: "issuer", of: app, sealedWith: Keyring(current: old), at: now,
          in: session)
      }
      let list = try CredentialTable.list(of: app, in: session)
      #expect(Set(list.map(\.kind)) == Set(CredentialTable.Kind.allCases))
      #expect(list.allSatisfy { $0.issuer == "issuer" && $0.createdAt == now })
      let row = try session.query("SELECT sealed FROM credentials WHERE name = 'first'")
      return try row[0].bytes(0)
    }
    #expect(sealed.firstRange(of: secret) == nil)
    let place = "credentials/\(app.bundleID)/sharedSecret/first"
    #expect(try Keyring(current: new, previous: [old]).open(Sealed(sealed), context: place) == secret)
    #expect(throws: SealingError.self) { try Keyring(current: old).open(Sealed(sealed), context: place + "2") }
    #expect(throws: SealingError.self) { try Keyring(current: new).open(Sealed(sealed), context: place) }
    await fixture.pool.close()
  }

  @Test func `has an audit that tells the newest first and of one subject alone`() async throws {
    let fixture = try await LedgerFixture()
    try await fixture.pool.read { [now] session throws(DatabaseError) in
      try AuditTable.note("app.add", of: "a", by: "kim", because: "new \u{1F600}", at: now, in: session)
      try AuditTable.note("app.remove", of: "a", by: "lee", because: "", at: now + .seconds(1), in: session)
      try AuditTable.note("app.add", of: "b", by: "kim", because: "", at: now, in: session)
      let entries = try AuditTable.newest(of: "a", limit: 10, in: session)
      #expect(entries.map(\.action) == ["app.remove", "app.add"] && entries.map(\.actor) == ["lee", "kim"])
      #expect(entries[1].reason == "new \u{1F600}" && entries[1].at == now && entries[1].subject == "a")
      #expect(try AuditTable.newest(of: "a", limit: 1, in: session).count == 1)
      #expect(try AuditTable.newest(of: "c", limit: 1, in: session).isEmpty)
    }
    await fixture.pool.close()
  }
}
