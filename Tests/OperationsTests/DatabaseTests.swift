@Suite struct `An operation on the database` {
  private let now = Operated.now
  private let kim = Operated.kim
  private let adapter = Adapter(verifier: SignedDataVerifier(roots: .apple))

  @Test func `rebuilds it, after a rehearsal that changes nothing`() async throws {
    let here = try await Operated()
    let rebuild = RebuildLedger(here.configuration, readBy: adapter) { _ in }
    let before = try await here.contents()
    #expect(try await rebuild.plan(at: now).isEqual)
    #expect(try await here.contents() == before)
    #expect(try await rebuild.apply(by: kim, at: now).messages == 0)
    #expect(try await here.audit() == ["db.rebuild database 0 messages: ticket 4"])
  }

  @Test func `takes a secret out of what is kept, after a search that changes nothing`() async throws {
    let here = try await Operated()
    let (secret, keys) = ("0123456789abcdef0123456789abcdef", Keyring(current: MasterKey.generate()))
    let add = AddSharedSecret(try #require(SharedSecret(Array(secret.utf8))), to: Operated.bundleID)
    try await add.apply(
      here.app, sealedWith: KeySource(keys), by: kim, at: now - .days(1), on: here.connection)
    try await here.execute(
      """
      INSERT INTO quarantine (digest, received_at, source, code, detail, app, kind, body, size)
      VALUES (\(Digest.sha256([1]).bytes), 1, 'unproven', 'notJSON', '', '', 1, \("password=\(secret)"), 41)
      """)
    let pool = Pool(here.configuration)
    let redact = RedactSecrets(pool, keys, readBy: adapter, clock: .fixed(at: now))
    let before = try await here.contents()
    #expect(try await redact.plan { _, _ in }.changed == 1)
    #expect(try await here.contents() == before)
    let summary = try await redact.apply(again: true, by: kim) { _, _ in
    } settling: { _ in
    }
    #expect(summary.changed == 1)
    #expect(try await here.audit().last == "db.redact database 1 messages: ticket 4")
    #expect(try await redact.plan { _, _ in }.changed == 0)
    await pool.close()
  }
}
