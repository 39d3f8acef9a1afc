import Database
import JSON
import Ledger
import Purchases
import Rollout
import Runtime
import Time

/// Everything registered about one app, secrets left out.
struct AppRecord {
  let app: App
  let flags: [Flag]
  let tokens: [TokenTable.Entry]
  let credentials: [CredentialTable.Entry]
  let legacyEntitlements: LegacyEntitlements
  let accessHold: AccessHold
  let unprovenForwarding: UnprovenForwarding
  let consumption: ConsumptionPolicy

  init(_ app: App, in session: Session) throws(DatabaseError) {
    self.app = app
    flags = try AppTable.flags(of: app, in: session)
    tokens = try TokenTable.list(of: app, in: session)
    credentials = try CredentialTable.list(of: app, in: session)
    legacyEntitlements = try PolicyTable.legacyEntitlements(of: app, in: session)
    accessHold = try PolicyTable.accessHold(of: app, in: session)
    unprovenForwarding = try UnprovenForwardingTable.policy(of: app, in: session)
    consumption = try ConsumptionPolicyTable.policy(of: app.id, in: session)
  }

  /// The record of a registered app; a clear error when there is none.
  static func find(_ bundleID: String, _ connection: Connection) async throws -> AppRecord {
    let record = try await connection.read { session throws(DatabaseError) in
      guard let app = try AppTable.find(bundleID, in: session) else { return nil as AppRecord? }
      return try AppRecord(app, in: session)
    }
    guard let record else { throw NoSuchApp(bundleID: bundleID) }
    return record
  }

  var validTokens: [TokenTable.Entry] { tokens.filter { $0.revokedAt == nil } }

  var stages: String { flags.map { "\($0.environment.rawValue) \($0.stage.rawValue)" }.joined(separator: ", ") }

  var json: JSONObject {
    [
      "bundleId": .string(app.bundleID), "appAppleId": JSONValue(app.appAppleID),
      "stages": .object(JSONObject(flags.map { ($0.environment.rawValue, .string($0.stage.rawValue)) })),
      "legacyEntitlements": .string(legacyEntitlements.rawValue),
      "holdAccessHours": .integer(Int64(accessHold.hours)),
      "forwardUnproven": .string(unprovenForwarding.rawValue), "consumption": .string(consumption.summary),
      "tokens": .array(tokens.map { .object(Self.json($0)) }),
      "credentials": .array(credentials.map { .object(Self.json($0)) }),
    ]
  }

  private static func json(_ token: TokenTable.Entry) -> JSONObject {
    [
      "name": .string(token.name), "label": .string(token.label), "createdAt": .integer(token.createdAt.sinceEpoch),
      "revokedAt": JSONValue(token.revokedAt?.sinceEpoch),
    ]
  }

  private static func json(_ credential: CredentialTable.Entry) -> JSONObject {
    [
      "kind": .string(credential.kind.rawValue), "name": .string(credential.name),
      "issuer": .string(credential.issuer), "createdAt": .integer(credential.createdAt.sinceEpoch),
    ]
  }
}

/// An app that is not registered.
struct NoSuchApp: ExitStatusError, CustomStringConvertible {
  let bundleID: String

  var exitStatus: ExitStatus { .failed }
  var description: String { "the app \(bundleID) is not registered; see `switchyard app list`" }
}
