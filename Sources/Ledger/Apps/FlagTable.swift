package import Database
package import Purchases
package import Rollout
package import Time

/// An app's stage in one environment, with the number of changes so far: writers compare it.
package struct Flag: Hashable, Sendable {
  package let environment: Environment
  package let stage: Stage
  package let epoch: Int64
}

/// `flags`: the stage of each app in each environment.
package enum FlagTable {
  /// Every flag.
  package static func all(in session: borrowing Session) throws(DatabaseError) -> [Ledger.Scope: Flag] {
    var flags: [Ledger.Scope: Flag] = [:]
    for row in try session.query("SELECT app, environment, stage, epoch FROM flags") {
      guard let stage = Stage(rawValue: try row.text("stage")) else {
        throw DatabaseError(.column, "a stage this build does not know: \(try row.text("stage"))")
      }
      let environment = try Environment(code: row.int("environment"))
      flags[Ledger.Scope(app: App.ID(try row.int("app")), environment: environment)] = Flag(
        environment: environment, stage: stage, epoch: try row.int64("epoch"))
    }
    return flags
  }

  /// Sets the stage and advances the epoch, unless somebody else did meanwhile: then false, and nothing is changed.
  ///
  /// It waits for the writers that have read the epoch and not committed yet (`OutboxTable.roads`): whoever writes
  /// after it is committed is refused with the old epoch.
  package static func advance(
    _ scope: Ledger.Scope, from flag: Flag, to stage: Stage, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    try session.execute(
      """
      UPDATE flags SET stage = \(stage.rawValue), epoch = epoch + 1, changed_at = \(now)
      WHERE app = \(scope.app.number) AND environment = \(scope.environment.code) AND epoch = \(flag.epoch)
      """
    ).affectedRows == 1
  }
}
