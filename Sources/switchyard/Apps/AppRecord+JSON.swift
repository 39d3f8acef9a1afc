import JSON
import Ledger
import Operations
import Purchases
import Rollout
import Time

extension AppRecord {
  var stages: String { flags.map { "\($0.environment.rawValue) \($0.stage.rawValue)" }.joined(separator: ", ") }

  var json: JSONObject {
    [
      "bundleId": .string(app.bundleID), "appAppleId": JSONValue(app.appAppleID),
      "stages": .object(JSONObject(flags.map { ($0.environment.rawValue, .string($0.stage.rawValue)) })),
      "holdAccessHours": .integer(Int64(accessHold.hours)),
      "forwardUnproven": .string(unprovenForwarding.rawValue), "consumption": .string(consumption.summary),
      "answerReadings": .array(answerReadings.map { .string($0) }), "answerClients": .string(answerClients.rawValue),
      "tokens": .array(tokens.map { .object(Self.json($0)) }),
      "credentials": .array(credentials.map { .object(Self.json($0)) }),
    ]
  }

  private static func json(_ token: TokenTable.Record) -> JSONObject {
    [
      "name": .string(token.name), "label": .string(token.label), "createdAt": .integer(token.createdAt.sinceEpoch),
      "revokedAt": JSONValue(token.revokedAt?.sinceEpoch),
    ]
  }

  private static func json(_ credential: CredentialTable.Record) -> JSONObject {
    [
      "kind": .string(credential.kind.rawValue), "name": .string(credential.name),
      "issuer": .string(credential.issuer), "createdAt": .integer(credential.createdAt.sinceEpoch),
    ]
  }
}
