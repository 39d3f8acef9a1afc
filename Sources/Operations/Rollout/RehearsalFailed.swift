package import Database
import Ledger
import Purchases
import Rollout
package import Runtime

/// A rollback could not be rehearsed.
package struct RehearsalFailed: ExitStatusError, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }

  init(changedMeanwhile standing: RolloutStanding) {
    let app = standing.app.bundleID
    description = """
      the stage of \(app) was changed during the rehearsal and stays as it was set: see `switchyard rollout history \(app)`
      """
  }

  /// Tells the operator who has to do by hand what the rehearsal could not.
  package init(notPutBack standing: RolloutStanding, _ error: DatabaseError) {
    let (flag, app) = (standing.flag, standing.app.bundleID)
    let name = Move.name(flag.stage, flag.share)
    guard flag.stage.answers != .apple, flag.stage.asksVerifyReceipt else {
      description = "the database failed; the stage is \(name) as before: \(error)"
      return
    }
    let place = "--environment \(flag.environment.rawValue)"
    let percent = flag.share.map { " --percent \($0.description.dropLast(2))" } ?? ""
    let state =
      error.code == .commitOutcomeUnknown
      ? "it is not known whether \(app) is in \(name) again"
      : "\(app) IS STILL IN shadow, unless somebody has changed it since"
    description = """
      \(state); in shadow Apple answers its customers. If the first line of `switchyard rollout history \(app) \(place)` \
      is rollout.drill.begin, nobody has: put it back with `switchyard rollout set \(app) \(flag.stage.rawValue)\(percent) \
      \(place) --force --reason "put back after a drill"` (\(error))
      """
  }

  package var exitStatus: ExitStatus { .failed }
}
