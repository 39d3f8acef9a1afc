extension Migration {
  // New tables, and columns of `outbox`. MySQL cannot add a column "if it is not there", so that each ALTER asks
  // information_schema first. The binary before this one leaves all of it alone, and work of kinds that it does not know.
  static let third = Migration(
    version: 3, title: "claimed changes, renewal checks, access holds; order of the outbox; waiting user ids",
    changes: (claimedChangeTables + waitingUserIDTables).map { Change($0) } + outboxOrder + watchedHeartbeats)
}
