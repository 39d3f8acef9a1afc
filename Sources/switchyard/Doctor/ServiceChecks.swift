import Database
import Ledger
import Operations
import Purchases
import Rollout
import Time

/// Checks of services, migrations, and Apple's verifyReceipt.
struct ServiceChecks {
  let all: [Check]

  /// The age of the calls that show Apple's current behavior.
  private static let answeredWithin = Interval.minutes(15)
  private static let leastCalls = 10

  init(_ session: Session, now: Timestamp) throws(DatabaseError) {
    let apps = try AppTable.all(in: session)
    guard !apps.isEmpty else {
      all = []
      return
    }
    all =
      (try Self.services(session)) + (try Self.migrations(session, now)) + (try Self.answers(session, apps, now))
  }

  private static func services(_ session: Session) throws(DatabaseError) -> [Check] {
    let running = try ProcessTable.notes(in: session).filter { !$0.isSilent }
    guard running.isEmpty else { return [.ok("service", "\(running.count.counted("service")) running")] }
    return [
      .fail(
        "service", "no service has said anything on this database for \(ProcessTable.silence.milliseconds / 1_000) s",
        "start `switchyard serve`; until then nothing is received, forwarded, answered or asked")
    ]
  }

  private static func migrations(_ session: Session, _ now: Timestamp) throws(DatabaseError) -> [Check] {
    try MigrationRecord.unattended(at: now, in: session).map { id in
      .fail(
        "migration", "no process works on migration \(id)",
        "start `switchyard serve` on this database, or run `switchyard migrate resume \(id) --here`")
    }
  }

  /// Checks the clients that get Apple's response, also where others get Switchyard's.
  private static func answers(_ session: Session, _ apps: [App], _ now: Timestamp) throws(DatabaseError) -> [Check] {
    var checks: [Check] = []
    for app in apps {
      for environment in [Environment.production, .sandbox] {
        let scope = AppScope(app: app.id, environment: environment)
        guard
          let apple = try AnswerTimeTable.read(scope, since: now - answeredWithin, in: session)[.apple],
          apple.calls >= leastCalls, apple.errors * 2 >= apple.calls
        else { continue }
        checks.append(
          .fail(
            "apple",
            "\(apple.errors) of \(apple.calls) calls of \(app.bundleID) \(environment.rawValue) got no answer from Apple's "
              + "verifyReceipt in the last \(answeredWithin.milliseconds / 60_000) minutes",
            "see Apple's system status; the rollout stage is not affected: `switchyard rollout status "
              + "\(app.bundleID)`"))
      }
    }
    return checks
  }
}
