@Suite struct `An operation on the database` {
  private let now = Operated.now
  private let kim = Operated.kim
  private let adapter = MessageDecoder(verifier: SignedDataVerifier(roots: .apple))

  @Test func `rebuilds it, after a rehearsal that changes nothing`() async throws {
    let here = try await Operated()
    let rebuild = RebuildLedger(here.configuration, .ofTests, readBy: adapter) { _ in }
    let before = try await here.contents()
    #expect(try await rebuild.plan(at: now).isEqual)
    #expect(try await here.contents() == before)
    #expect(try await rebuild.apply(by: kim, at: now).messages == 0)
    #expect(try await here.audit() == ["db.rebuild database 0 messages: ticket 4"])
  }
}
