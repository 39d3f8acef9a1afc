/// Two user ids that look alike: tables compare bytes, Swift compares letters.
@Suite struct `User ids that look alike` {
  private static let (composed, decomposed) = ("Jos\u{E9}", "Jose\u{301}")

  private func attribution(_ user: String, at seconds: Int64) -> AccountAssociation {
    let date = Timestamp(1_700_000_000_000) + .seconds(seconds)
    return AccountAssociation(.userID, user, of: "1", from: date, to: date, message: [UInt8(seconds)])
  }

  @Test func `are two accounts, and a change between them is a transfer`() {
    #expect(Self.composed == Self.decomposed, "as Swift sees them")
    let said = [attribution(Self.composed, at: 1), attribution(Self.decomposed, at: 2)]
    for attributions in [said, said.reversed()] {
      let merged = AccountAssociation.merged(attributions)
      #expect(merged.map { Array($0.value.utf8) } == [Array(Self.composed.utf8), Array(Self.decomposed.utf8)])
      let transfers = AccountTransfer.all(in: merged, purchases: [])
      #expect(transfers.map { Array($0.to.utf8) } == [Array(Self.decomposed.utf8)])
    }
  }

  @Test func `are no transfer where two were said at one time, since nobody knows which came first`() {
    func moves(_ said: [(user: String, at: Int64)]) -> [String] {
      let attributions = said.map { attribution($0.user, at: $0.at) }
      return [attributions, attributions.reversed()].flatMap { attributions in
        AccountTransfer.all(in: attributions, purchases: []).map { "\($0.from)>\($0.to)" }
      }
    }
    #expect(moves([("bob", 1), ("alice", 1)]) == [])
    #expect(moves([("bob", 1), ("alice", 1), ("carol", 2)]) == [])
    #expect(moves([("bob", 1), ("alice", 1), ("carol", 2), ("bob", 3), ("alice", 3)]) == [])
    #expect(moves([("alice", 1), ("bob", 2), ("carol", 2), ("bob", 3)]) == ["alice>bob", "alice>bob"])
    #expect(moves([("bob", 1), ("alice", 2)]) == ["bob>alice", "bob>alice"])
  }

  @Test func `do not make a claim of the one look like a repetition of the other`() {
    var claim = attribution(Self.decomposed, at: 2)
    claim.isClaimed = true
    let merged = AccountAssociation.merged([claim, attribution(Self.composed, at: 1)])
    #expect(merged.map(\.isClaimed) == [false, true])
  }
}
