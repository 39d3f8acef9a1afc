import Database
import Ledger
import Purchases

/// Missing settings of registered apps: the destination's URL, the shared secret, the key of the App Store Server API.
struct SetupChecks {
  let all: [Check]

  init(_ session: Session) throws(DatabaseError) {
    all = try MissingSetup.all(in: session).map { gap in
      let name = gap.app.bundleID
      return switch gap {
      case .noLegacyURL(_, let environment):
        .warn(
          "forwarding",
          "\(name) has no legacy URL in \(environment.rawValue): what Apple posts here does not reach its existing back end",
          "`\(gap.command)`, before Apple's URL is changed (runbooks/connect-app.md)")
      case .noSharedSecret:
        .warn(
          "shared secret",
          "\(name) has no shared secret: V1 notifications are quarantined, and forwarded only if it forwards unproven ones",
          "`\(gap.command)`; an app to which Apple sends only V2 does not need one")
      case .noAPIKey:
        .warn(
          "api key",
          "\(name) has no API key: Apple cannot confirm what V1 reports, so that subscribers who renew lose access "
            + "in /v1", "`\(gap.command)`, then `switchyard api check --app \(name)`")
      }
    }
  }
}
