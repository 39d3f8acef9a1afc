extension Migration {
  // Tables only. The binary before this one leaves them alone, and work of the kinds that it does not know.
  static let third = Migration(
    version: 3, title: "claimed changes, renewal checks, access holds", statements: claimedChangeTables)
}
