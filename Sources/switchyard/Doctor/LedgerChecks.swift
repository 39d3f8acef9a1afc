import Database
import Ledger
import Purchases
import Signing
import Time

struct LedgerChecks {
  let all: [Check]

  init(_ session: Session, _ keys: Keyring?, now: Timestamp) throws(DatabaseError) {
    let status = try Migrator().status(in: session)
    guard status.isCurrent else {
      all = [
        .fail(
          "schema", "version \(status.installed), this build knows \(status.known)",
          status.isOlder
            ? "run `switchyard db migrate`" : "another build made it: use that one, or begin with an empty database")
      ]
      return
    }
    // With another key, skip the sealed data: a separate check reports the key.
    let isOther = try MasterKeyTable.inUse(in: session).map { $0 != keys?.current.id.description } ?? false
    let own = isOther ? nil : keys
    all =
      [.ok("schema", "version \(status.installed)")] + (try Self.rebuild(session)) + (try Self.bodies(session, keys))
      + (try Self.apps(session))
      + (try ServiceChecks(session, now: now).all) + (try SetupChecks(session).all) + (try StageChecks(session).all)
      + (try OutboxChecks(session, now: now).all) + (try Self.quarantine(session))
      + (try Self.heartbeats(session))
      + (try AppleAccessChecks(session, own, now: now).all)
  }

  private static func rebuild(_ session: Session) throws(DatabaseError) -> [Check] {
    guard let since = try Rebuild.unfinished(in: session) else { return [] }
    return [
      .fail(
        "rebuild", "the one of \(since.iso8601) was cut off: purchases that arrived during it do not show",
        "`switchyard db rebuild`: the messages are all there")
    ]
  }

  /// Checks that the master key is the database's, and opens the first and last stored bodies.
  private static func bodies(_ session: Session, _ keys: Keyring?) throws(DatabaseError) -> [Check] {
    guard let inUse = try MasterKeyTable.inUse(in: session) else { return [] }
    let next = "bring that key from the backup; if it is lost for good: `switchyard db key --accept-new`"
    guard let keys, keys.current.id.description == inUse else {
      let here = keys.map { "the one here is \($0.current.id)" } ?? "none is here"
      return [.fail("stored bodies", "sealed under the master key \(inUse), and \(here)", next)]
    }
    let ends = try InboxTable.ends(in: session)
    guard !ends.isEmpty else { return [] }
    let accepted = try MasterKeyTable.since(in: session)
    let (opened, unreadable) = try BodyPage.read(ends) { part throws(DatabaseError) in
      try InboxTable.messages(of: part, BodyVault(keys), in: session)
    }
    let checks = unreadable.map { message, reason -> Check in
      message.receivedAt < accepted ?? Timestamp(0)
        ? .warn(
          "stored bodies", "\(reason); this key has been the database's since \(accepted?.iso8601 ?? "")",
          "nothing, if that key is lost: what came before is known, but cannot be shown, replayed or rebuilt from")
        : .fail("stored bodies", reason, "restore the row from a backup; `switchyard db rebuild` needs it")
    }
    let text = opened.count == ends.count ? "the oldest and the newest open" : "one of the oldest and the newest opens"
    return opened.isEmpty ? checks : [.ok("stored bodies", "\(text) under the master key \(inUse)")] + checks
  }

  private static func apps(_ session: Session) throws(DatabaseError) -> [Check] {
    let apps = try AppTable.all(in: session)
    if apps.isEmpty { return [.warn("apps", "none is registered", "`switchyard app add BUNDLE_ID`")] }
    var checks: [Check] = []
    for app in apps {
      let name = app.bundleID
      if app.appAppleID == nil {
        checks.append(
          .warn(
            "app", "\(name) has no Apple id: its Production notifications are quarantined",
            "`switchyard app add \(name) --app-apple-id NUMBER`"))
      }
      if try !TokenTable.list(of: app, in: session).contains(where: { $0.revokedAt == nil }) {
        checks.append(
          .warn("app", "\(name) has no token: its back end cannot ask", "`switchyard app token \(name)`"))
      }
    }
    return [.ok("apps", "\(apps.count) registered")] + checks
  }

  private static func quarantine(_ session: Session) throws(DatabaseError) -> [Check] {
    let reasons = try QuarantineTable.reasons(in: session)
    if reasons.isEmpty { return [.ok("quarantine", "empty")] }
    return reasons.map { reason in
      .warn("quarantine", "\(reason.count) of \(reason.code)", remedy(reason))
    }
  }

  private static func heartbeats(_ session: Session) throws(DatabaseError) -> [Check] {
    let names = Dictionary(try AppTable.all(in: session).map { ($0.id, $0.bundleID) }) { first, _ in first }
    return try HeartbeatTable.all(in: session).compactMap { heartbeat in
      let bundleID = names[heartbeat.scope.app] ?? ""
      let place = "\(bundleID) \(heartbeat.scope.environment.rawValue)"
      if let lost = heartbeat.lostSince {
        let isKeyRefused = heartbeat.failure?.contains("unauthorized") == true
        return .fail(
          "heartbeat", "\(place): no TEST came back since \(lost.iso8601): \(heartbeat.failure ?? "no reason known")",
          isKeyRefused ? "`switchyard api check --app \(bundleID)`" : "runbooks/missed-notifications.md")
      }
      if let reason = heartbeat.unwatched {
        return .ok(
          "heartbeat",
          "\(place): not watched, lost notifications show only in `switchyard reconcile`: \(reason)")
      }
      guard heartbeat.token != nil else { return nil }
      return heartbeat.returnedAt.map { .ok("heartbeat", "\(place): the last TEST came back at \($0.iso8601)") }
    }
  }

  private static func remedy(_ reason: QuarantineTable.Reason) -> String {
    let replay = "then `switchyard quarantine replay --code \(reason.code)`"
    return switch reason.code {
    case "unknownApp": "`switchyard app add` it and name its destination (`switchyard app legacy-url`), \(replay)"
    case "appAppleIdNotRegistered": "`switchyard app add --app-apple-id`, \(replay)"
    case "noSharedSecret":
      "`switchyard app secret BUNDLE_ID --shared-secret-file FILE`, \(replay)"
    case "wrongAppAppleId": "compare the Apple id with App Store Connect, \(replay)"
    case "revoked": "`switchyard quarantine list --code revoked`: signed with a certificate that Apple has revoked"
    case "unknownRoot": "forged, or of a root not trusted here: `switchyard quarantine list --code unknownRoot`"
    default: "`switchyard quarantine list --code \(reason.code)`"
    }
  }
}
