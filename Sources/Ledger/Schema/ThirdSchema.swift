extension Migration {
  // New columns here: MySQL cannot add one "if it is not there", so that each ALTER asks information_schema first.
  static let third = Migration(
    version: 3, title: "outbox: who may be sent next is kept with each row", changes: outboxOrder)
}
