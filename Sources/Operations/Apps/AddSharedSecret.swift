package import Database
package import Ledger
import Signing
package import Time

/// Makes a shared secret of an app valid, beside the one in use.
package struct AddSharedSecret: Sendable {
  private let secret: SharedSecret
  private let bundleID: String

  package init(_ secret: SharedSecret, to bundleID: String) {
    self.secret = secret
    self.bundleID = bundleID
  }

  /// The app that would have it; `NoSuchApp` when it is not registered.
  package func plan(on connection: Connection) async throws -> App {
    try await AppRecord.find(bundleID, connection).app
  }

  /// Seals it; refused when the app already has as many as may be valid.
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
