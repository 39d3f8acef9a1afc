package import Database
package import Ledger
package import Purchases
package import Runtime

/// The registration of one app, without secrets.
package struct AppRecord: Sendable {
  package let app: App
  package let flags: [StageRecord]
  package let tokens: [TokenTable.Record]
  package let credentials: [CredentialTable.Record]
  package let accessHold: AccessHold
  package let unprovenForwarding: UnprovenForwarding
  package let consumption: ConsumptionPolicy
  /// The rows of `answer-rules.tsv` that replace the defaults.
  package let answerReadings: [String]
  package let answerClients: AnswerClients

  package init(_ app: App, in session: borrowing Session) throws(DatabaseError) {
    self.app = app
    flags = try AppTable.flags(of: app, in: session)
    tokens = try TokenTable.list(of: app, in: session)
    credentials = try CredentialTable.list(of: app, in: session)
    accessHold = try PolicyTable.accessHold(of: app, in: session)
    unprovenForwarding = try UnprovenForwardingTable.policy(of: app, in: session)
    consumption = try ConsumptionPolicyTable.policy(of: app.id, in: session)
    answerReadings = try PolicyTable.answerReadings(of: app, in: session)
    answerClients = try PolicyTable.answerClients(of: app, in: session)
  }

  package static func find(_ bundleID: String, _ connection: Connection) async throws -> AppRecord {
    let record = try await connection.read { session throws(DatabaseError) in
      guard let app = try AppTable.find(bundleID, in: session) else { return nil as AppRecord? }
      return try AppRecord(app, in: session)
    }
    guard let record else { throw NoSuchApp(bundleID: bundleID) }
    return record
  }

  package var validTokens: [TokenTable.Record] { tokens.filter { $0.revokedAt == nil } }
}

package struct NoSuchApp: ExitStatusError, CustomStringConvertible {
  package let bundleID: String

  package init(bundleID: String) { self.bundleID = bundleID }

  package var exitStatus: ExitStatus { .failed }
  package var description: String { "the app \(bundleID) is not registered; see `switchyard app list`" }
}
