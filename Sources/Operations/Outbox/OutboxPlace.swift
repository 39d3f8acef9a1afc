package import Database
package import Ledger
package import Purchases

package struct OutboxPlace: Sendable {
  package let app: String
  package let destination: Destination

  /// Returns the destinations, of one app or environment on request.
  ///
  /// Throws `NoSuchApp`.
  package static func all(
    app: String?, _ environment: Environment?, _ connection: Connection
  ) async throws -> [OutboxPlace] {
    if let app { _ = try await AppRecord.find(app, connection) }
    return try await connection.read { session throws(DatabaseError) in
      let apps = try AppTable.all(includingRemoved: true, in: session)
      let names = Dictionary(apps.map { ($0.id, $0.bundleID) }) { first, _ in first }
      return try DestinationTable.all(in: session).map { destination in
        OutboxPlace(app: names[destination.scope.app] ?? "?", destination: destination)
      }
    }.filter { place in
      (app == nil || place.app == app)
        && (environment == nil || place.destination.scope.environment == environment)
    }
  }
}
