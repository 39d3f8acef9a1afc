import Database
import Ledger
import Purchases
import Runtime
import Seeding
import Service
import Signing
import Time

/// Checks of the traffic with Apple: API keys, ID lookups and consumption requests.
struct AppleAccessChecks {
  let all: [Check]

  /// The age up to which consumption requests without a result count.
  private static let recent = Interval.days(7)

  /// - Parameter keys: nil without a readable master key, which another check reports.
  init(_ session: Session, _ keys: Keyring?, now: Timestamp) throws(DatabaseError) {
    let apps = try AppTable.all(in: session)
    let names = Dictionary(apps.map { ($0.id, $0.bundleID) }) { first, _ in first }
    all =
      (try Self.credentials(session, keys, names)) + (try Self.seeds(session, keys, apps))
      + (try Self.consumption(session, now))
  }

  private static func credentials(
    _ session: Session, _ keys: Keyring?, _ names: [App.ID: String]
  ) throws(DatabaseError) -> [Check] {
    guard let keys else {
      guard try CredentialTable.hasAny(in: session) else { return [] }
      return [
        .fail(
          "credentials", "keys and secrets are sealed here, and their master key cannot be read",
          "bring it from the backup and name it with --master-key-file; if no backup has it: runbooks/backup.md")
      ]
    }
    var checks: [Check] = []
    for kind in CredentialTable.Kind.allCases {
      let unusable: [CredentialTable.Unopened] =
        switch kind {
        case .apiKey: try AppWithAPIKey.all(with: keys, in: session).unusable
        case .sharedSecret, .callbackToken: try CredentialTable.open(kind, with: keys, in: session).unopened
        }
      for one in unusable {
        let name = names[one.app] ?? ""
        checks.append(
          .fail(
            "credentials", "\(kind.rawValue) \(one.name) of \(name) does not open: \(one.reason)",
            "name the master key it was sealed with, or \(again(kind, name))"))
      }
    }
    return checks
  }

  private static func again(_ kind: CredentialTable.Kind, _ app: String) -> String {
    switch kind {
    case .apiKey: "`switchyard app add \(app) --key-file FILE --key-id ID --issuer ID`"
    case .sharedSecret: "`switchyard app secret \(app) --shared-secret-file FILE`"
    case .callbackToken: "`switchyard app set \(app) --consumption ask --consumption-token-file FILE …`"
    }
  }

  private static func seeds(_ session: Session, _ keys: Keyring?, _ apps: [App]) throws(DatabaseError) -> [Check] {
    var checks: [Check] = []
    let askable = try keys.map { keys throws(DatabaseError) in
      try AppWithAPIKey.all(with: keys, in: session).askable.map(\.app.id)
    }
    for app in apps {
      let counts = try HistoryJobTable.counts(of: app, in: session)
      for failed in counts where failed.state == .failed {
        checks.append(
          .warn(
            "seeds", "\(failed.count) ids of \(app.bundleID) \(failed.environment.rawValue) failed: \(failed.reason)",
            "`switchyard seeds status \(app.bundleID) --ids --state failed`; once fixed, `switchyard seeds retry \(app.bundleID)`"
          ))
      }
      for closed in counts where closed.state == .waiting && closed.reason.hasPrefix(HistoryJobTable.closedDoor) {
        checks.append(
          .fail(
            "api key",
            "\(closed.count) ids of \(app.bundleID) \(closed.environment.rawValue) wait: \(closed.reason)",
            "`switchyard api check --app \(app.bundleID)` shows the error; then register the right key: "
              + again(.apiKey, app.bundleID)))
      }
      let waiting = counts.filter { $0.state == .waiting }.reduce(0) { $0 + $1.count }
      if waiting > 0, let askable, !askable.contains(app.id) {
        checks.append(
          .warn(
            "seeds", "\(waiting) ids of \(app.bundleID) wait for a key of the App Store Server API",
            "`switchyard app add \(app.bundleID) --key-file FILE --key-id ID --issuer ID`"))
      }
    }
    return checks
  }

  private static func consumption(_ session: Session, _ now: Timestamp) throws(DatabaseError) -> [Check] {
    let counts = try ConsumptionTable.counts(since: now - recent, in: session)
    let remedies: [(state: ConsumptionRequestRecord.State, detail: String, remedy: String)] = [
      (
        .expired, "ended without an answer: Apple decides without it",
        "see why: `switchyard consumption list --state expired`"
      ),
      (
        .refused, "had an answer that Apple refused",
        "`switchyard consumption list --state refused`; `switchyard consumption answer` while 12 hours last"
      ),
      (
        .unnamed, "do not say which purchase Apple asks about",
        "`switchyard consumption list --state unnamed`; answer once you know the purchase: `switchyard api consumption`"
      ),
      (
        .claimed, "come only from a V1 body, which any holder of the shared secret can make: an operator must answer",
        "`switchyard consumption list --state claimed`; if a request is genuine: `switchyard consumption answer`"
      ),
    ]
    return remedies.compactMap { row in
      guard let count = counts[row.state], count > 0 else { return nil }
      return .warn("consumption", "\(count) requests of the last 7 days \(row.detail)", row.remedy)
    }
  }
}
