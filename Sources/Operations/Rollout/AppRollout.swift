package import Database
package import Ledger
import Rollout

/// The rollout of an app in one environment.
package struct AppRollout: Sendable {
  package let app: App
  package let flag: StageRecord
  package let legacy: Destination?
  package let depth: OutboxDepth
  package let hasSharedSecret: Bool
  package let hasAPIKey: Bool

  package static func all(in session: borrowing Session) throws(DatabaseError) -> [AppRollout] {
    let flags = try StageTable.all(in: session)
    let destinations = try DestinationTable.all(in: session).filter { $0.name == Destination.legacy }
    let depths = try OutboxTable.depths(in: session)
    let secretive = try CredentialTable.apps(with: .sharedSecret, in: session)
    let keyed = try CredentialTable.apps(with: .apiKey, in: session)
    return try AppTable.all(in: session).flatMap { app in
      flags.filter { $0.key.app == app.id }.sorted { $0.key < $1.key }.map { scope, flag in
        let legacy = destinations.first { $0.scope == scope }
        return AppRollout(
          app: app, flag: flag, legacy: legacy, depth: legacy.flatMap { depths[$0.id] } ?? OutboxDepth(),
          hasSharedSecret: secretive.contains(app.id), hasAPIKey: keyed.contains(app.id))
      }
    }
  }

  /// Whether all or some callers of verifyReceipt get Switchyard's responses.
  package var isAnswered: Bool { flag.stage.answers != .apple }

  var scope: AppScope { AppScope(app: app.id, environment: flag.environment) }
}
