extension Migration {
  // New tables, and columns of `outbox`. MySQL cannot add a column "if it is not there", so that each ALTER asks
  // information_schema first. The binary before this one leaves all of it alone, and work of kinds that it does not know.
  static let third = Migration(
    version: 3, title: "claimed changes, renewal checks, access holds; who may be sent next is kept with each row",
    changes: claimedChangeTables.map { Change($0) } + outboxOrder)
}
