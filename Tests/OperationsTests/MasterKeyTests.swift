/// A database is sealed under one master key, whoever comes with another one.
@Suite struct `The master key of a database` {
  private let now = Operated.now
  private let kim = Operated.kim

  @Test func `is the first that came, and no other`() async throws {
    let here = try await Operated()
    let (first, second) = (Keyring(current: .generate()), Keyring(current: .generate()))
    var wasSealed: [Bool] = []
    for keys in [first, first] {
      let heard = Mutex<[Bool]>([])
      let source = KeySource { hasSealed in
        heard.withLock { $0.append(hasSealed) }
        return keys
      }
      #expect(try await source.keys(for: here.connection).current.id == first.current.id)
      wasSealed += heard.withLock { $0 }
    }
    #expect(wasSealed == [false, true])
    try await here.expectRefusal(OtherMasterKey.self) {
      _ = try await KeySource(second).keys(for: here.connection)
    }
  }

  @Test func `is one where two machines come at once`() async throws {
    let here = try await Operated()
    let taken = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<4 {
        group.addTask {
          guard let connection = try? await Connection.open(here.configuration) else { return false }
          let keys = try? await KeySource(Keyring(current: .generate())).keys(for: connection)
          await connection.close()
          return keys != nil
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(taken == 1)
  }

  @Test func `is followed by another one where it is lost, and what was sealed under it ends`() async throws {
    let here = try await Operated()
    let (lost, new) = (Keyring(current: .generate()), Keyring(current: .generate()))
    let secret = try #require(SharedSecret(Array("0123456789abcdef0123456789abcdef".utf8)))
    let add = AddSharedSecret(secret, to: Operated.bundleID)
    try await add.apply(here.app, sealedWith: KeySource(lost), by: kim, at: now - .days(1), on: here.connection)
    try await here.expectRefusal(DatabaseError.self) {
      _ = try await AcceptMasterKey(lost).apply(by: kim, at: now, on: here.connection)
    }
    let accept = AcceptMasterKey(new)
    let ended = try await here.expect("db.key database \(new.current.id) accepted, 1 credentials deleted: ticket 4") {
      try await accept.plan(on: here.connection)
    } apply: { plan in
      #expect(plan.map(\.kind) == [.sharedSecret])
      return try await accept.apply(by: kim, at: now, on: here.connection)
    }
    #expect(ended.map(\.bundleID) == [Operated.bundleID])
    try await here.expectRefusal(OtherMasterKey.self) { _ = try await KeySource(lost).keys(for: here.connection) }
    // The same secret, registered again.
    try await add.apply(here.app, sealedWith: KeySource(new), by: kim, at: now, on: here.connection)
    let opened = try await here.connection.read { session throws(DatabaseError) in
      try CredentialTable.open(.sharedSecret, with: new, in: session)
    }
    #expect(opened.opened.count == 1 && opened.unopened.isEmpty)
  }

  @Test func `is not given up while services run`() async throws {
    let here = try await Operated()
    _ = try await KeySource(.ofTests).keys(for: here.connection)
    try await here.connection.read { session throws(DatabaseError) in
      let service = ProcessTable.Service(process: [UInt8](repeating: 1, count: 16), name: nil)
      try ProcessTable.note(service, mark: 1, in: session)
    }
    try await here.expectRefusal(DatabaseError.self) {
      _ = try await AcceptMasterKey(Keyring(current: .generate())).apply(by: kim, at: now, on: here.connection)
    }
  }
}
