import Database
import Ledger
import Purchases
import Rollout

struct StageChecks {
  let all: [Check]

  init(_ session: Session) throws(DatabaseError) {
    let secretive = try CredentialTable.apps(with: .sharedSecret, in: session)
    let keyed = try CredentialTable.apps(with: .apiKey, in: session)
    let flags = try StageTable.all(in: session).filter { $0.value.stage.answers != .apple }
    var checks: [Check] = []
    for app in try AppTable.all(in: session) {
      for (_, flag) in flags.filter({ $0.key.app == app.id }).sorted(by: { $0.key < $1.key }) {
        let place = "\(app.bundleID) \(flag.environment.rawValue)"
        let customers = flag.stage == .ramp ? "a percentage of the customers" : "all customers"
        checks.append(
          .ok(
            "stage", "\(place) is in \(flag.stage.rawValue): verifyReceipt is answered from the ledger for \(customers)"
          ))
        if !secretive.contains(app.id) { checks.append(Self.noSecret(app, place, flag.stage)) }
        if !keyed.contains(app.id), !flag.stage.asksVerifyReceipt { checks.append(Self.noKey(app, place)) }
      }
    }
    all = checks
  }

  private static func noSecret(_ app: App, _ place: String, _ stage: Stage) -> Check {
    let command = "`\(MissingSetup.noSharedSecret(app).command)`"
    return stage.asksVerifyReceipt
      ? .warn("stage", "\(place) has no shared secret: Apple is asked whether a password is right", command)
      : .fail("stage", "\(place) has no shared secret: receipts with subscriptions cannot be answered", command)
  }

  private static func noKey(_ app: App, _ place: String) -> Check {
    .fail(
      "stage", "\(place) has no API key: what is not known yet cannot be looked up",
      "`\(MissingSetup.noAPIKey(app).command)`")
  }
}
