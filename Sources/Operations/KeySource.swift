package import Database
import Ledger
package import Signing

/// Where the master key comes from: asked for when something is sealed, never for a plan.
package struct KeySource: Sendable {
  private let open: @Sendable (_ hasSealed: Bool) throws -> Keyring

  /// - Parameter open: hears whether the database holds secrets sealed under a key that must be this one.
  package init(_ open: @escaping @Sendable (_ hasSealed: Bool) throws -> Keyring) { self.open = open }

  /// Keys that are there already.
  package init(_ keys: Keyring) { open = { _ in keys } }

  /// Opens the keys for this database.
  package func keys(for connection: Connection) async throws -> Keyring {
    try open(await connection.read { session throws(DatabaseError) in try CredentialTable.hasAny(in: session) })
  }
}
