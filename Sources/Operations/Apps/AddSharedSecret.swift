package import Database
package import Ledger
import Signing
package import Time

/// Makes a shared secret of an app valid, in addition to the present one.
package struct AddSharedSecret: Sendable {
  private let secret: SharedSecret
  private let bundleID: String

  package init(_ secret: SharedSecret, to bundleID: String) {
    self.secret = secret
    self.bundleID = bundleID
  }

  /// Returns the app.
  ///
  /// Throws `NoSuchApp`.
  package func plan(on connection: Connection) async throws -> App {
    try await AppRecord.find(bundleID, connection).app
  }

  /// Seals and adds the secret.
  ///
  /// Refused if the app has its maximum of valid ones.
  package func apply(
    _ app: App, sealedWith source: KeySource, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws {
    let keys = try await source.keys(for: connection)
    try await connection.transaction { session throws(DatabaseError) in
      try secret.put(for: app, sealedWith: keys, at: now, in: session)
      try author.note("app.secret", of: app.bundleID, secret.name(under: keys), at: now, in: session)
    }
  }
}
