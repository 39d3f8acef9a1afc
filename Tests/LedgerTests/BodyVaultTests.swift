@testable import Ledger

@Suite struct `A stored body` {
  private let vault = BodyVault(Keyring(current: .generate()))
  private let now = Timestamp(1_790_000_000_000)

  private func message(_ body: [UInt8]) -> InboxMessage {
    InboxMessage(kind: .notification, body: body, receivedAt: now)
  }

  private func opened(
    _ bytes: [UInt8], _ message: InboxMessage, headers: [Digest: [UInt8]] = [:], at time: Timestamp? = nil,
    of digest: Digest? = nil
  ) throws -> [UInt8] {
    try vault.open(bytes, of: digest ?? message.digest, receivedAt: time ?? message.receivedAt).body(with: headers)
  }

  @Test func `comes back byte for byte, whatever it is`() throws {
    var samples = Samples.paths(under: "").compactMap(Samples.bytes)
    #expect(Samples.directory == nil || samples.count > 30)
    samples += [[], [0], Array("MII".utf8), .random(count: 100_000), [UInt8](repeating: 0x20, count: 1 << 20)]
    for body in samples {
      let message = message(body)
      for sharesHeaders in [true, false] {
        let stored = vault.seal(message, sharesHeaders: sharesHeaders)
        #expect(try opened(stored.bytes, message, headers: stored.headers) == body)
        #expect(sharesHeaders || stored.headers.isEmpty)
      }
    }
  }

  @Test func `is a tenth of a notification, and says nothing`() throws {
    let story = try SignedStory(customers: 1, periods: 1)
    for message in story.messages where message.kind == .notification {
      let stored = vault.seal(message, sharesHeaders: true)
      #expect(!stored.headers.isEmpty)
      #expect(stored.bytes.count * 8 < message.body.count, "\(stored.bytes.count) of \(message.body.count)")
      #expect(vault.seal(message, sharesHeaders: true).bytes != stored.bytes)
      #expect(throws: BodyDamage.self) { try opened(stored.bytes, message) }
    }
    let secret = message(Array(#"{"password":"0123456789abcdef0123456789abcdef"}"#.utf8))
    let stored = vault.seal(secret, sharesHeaders: true)
    #expect(stored.bytes.firstRange(of: Array("0123456789abcdef".utf8)) == nil)
  }

  @Test func `does not open where a byte was changed, for another message, in another month or under another key`()
    throws
  {
    let message = message(Array("0123456789".utf8))
    let bytes = vault.seal(message, sharesHeaders: false).bytes
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= 1
      #expect(throws: BodyDamage.self) { try opened(changed, message) }
    }
    for count in 0..<bytes.count {
      #expect(throws: BodyDamage.self) { try opened(Array(bytes.prefix(count)), message) }
    }
    #expect(throws: BodyDamage.self) { try opened(bytes, message, of: .sha256([1])) }
    #expect(throws: BodyDamage.self) { try opened(bytes, message, at: now + .days(40)) }
    #expect(throws: BodyDamage.self) {
      try BodyVault(Keyring(current: .generate())).open(bytes, of: message.digest, receivedAt: now)
    }
  }

  @Test func `of a key before opens beside the one in use`() throws {
    let (old, new) = (MasterKey.generate(), MasterKey.generate())
    let message = message([1, 2, 3])
    let stored = BodyVault(Keyring(current: old)).seal(message, sharesHeaders: false)
    let both = BodyVault(Keyring(current: new, previous: [old]))
    let body = try both.open(stored.bytes, of: message.digest, receivedAt: now).body(with: [:])
    #expect(body == [1, 2, 3])
  }

  @Test func `shares its headers only where Apple signed it`() async throws {
    let fixture = try await LedgerFixture()
    let story = try SignedStory(customers: 1, periods: 1)
    for (proof, count) in [(TrustLevel.unproven, 0), (.claimed, 0), (.proven, 1)] {
      var entry = try story.entry(story.messages[0], for: fixture.app)
      entry.message = InboxMessage(
        kind: .notification, body: entry.message.body, identity: Array("\(proof)".utf8),
        receivedAt: entry.message.receivedAt)
      entry.proof = proof
      #expect(try await fixture.ledger.append([entry]) == [.stored])
      let headers = try await fixture.pool.read { session throws(DatabaseError) in
        try session.query("SELECT COUNT(*) AS n FROM headers")[0].int("n")
      }
      #expect((headers > 0) == (count > 0), "\(proof)")
    }
    let messages = try await fixture.pool.read { session throws(DatabaseError) in
      try InboxTable.newest(limit: 9, digestPrefix: nil, in: session)
    }
    #expect(messages.map(\.message.body) == [[UInt8]](repeating: story.messages[0].body, count: 3))
    await fixture.pool.close()
  }
}
