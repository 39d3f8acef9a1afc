import Database
import Ledger
import Operations
import Purchases
import Rollout
import Service
import Signing
import Simulator
import Time

/// The operator's actions in a story, by the operations behind the commands.
struct StoryOperator: Sendable {
  let running: RunningInstallation
  let now: Timestamp

  private static let author = AuditContext("switchyard dev", because: "story")

  /// Registers an app and returns a token; with a secret also registers its destination for forwarding.
  func register(
    _ bundleID: String, appAppleID: Int64? = nil, secret: String? = nil, forwardingTo oldBackEnd: String
  ) async throws -> String {
    let app = RegisterApp(
      bundleID, appAppleID: appAppleID, sharedSecret: secret.flatMap { SharedSecret(Array($0.utf8)) })
    let forwarding = SetLegacyURL(oldBackEnd, of: bundleID, in: .production)
    let token = IssueToken(for: bundleID, label: "dev")
    return try await running.installation.ledger.pool.withConnection { [now, running] connection in
      try await app.apply(
        app.plan(on: connection), sealedWith: KeySource(running.keys), by: Self.author, at: now, on: connection)
      if secret != nil {
        try await forwarding.apply(forwarding.plan(on: connection), by: Self.author, at: now, on: connection)
      }
      return try await token.apply(token.plan(on: connection), by: Self.author, at: now, on: connection).token
    }
  }

  /// Registers the app's key of the App Store Server API, after which Apple is asked about its customers.
  func register(_ key: DeveloperKey, of bundleID: String) async throws {
    let app = RegisterApp(
      bundleID, apiKey: .init(pem: try key.signingKey.pem(), id: key.keyID, issuer: key.issuerID))
    try await running.installation.ledger.pool.withConnection { [now, running] connection in
      try await app.apply(
        app.plan(on: connection), sealedWith: KeySource(running.keys), by: Self.author, at: now, on: connection)
    }
  }

  /// `rollout set APP live --environment Production --force`.
  func goLive(_ bundleID: String) async throws {
    let live = SetStage(.live, of: bundleID, in: .production, forced: true)
    try await running.installation.ledger.pool.withConnection { [now] connection in
      try await live.apply(live.plan(at: now, on: connection), by: Self.author, at: now, on: connection)
    }
  }
}
