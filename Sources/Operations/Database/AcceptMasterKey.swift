package import Database
package import Ledger
package import Signing
package import Time

/// Replaces the lost master key of a database.
///
/// Purchases, customers and verifyReceipt responses are unaffected. Bodies and credentials under the lost key cannot be
/// opened: the credentials are deleted, so that new ones can be registered.
package struct AcceptMasterKey: Sendable {
  private let keys: Keyring

  package init(_ keys: Keyring) { self.keys = keys }

  /// Returns the credentials to delete.
  ///
  /// Refused if the key is already in use, and while services run.
  package func plan(on connection: Connection) async throws -> [CredentialTable.Lost] {
    try await connection.read { [keys] session throws(DatabaseError) in
      try Self.check(keys, in: session)
      return try CredentialTable.unopened(with: keys, in: session)
    }
  }

  /// Makes the change, and returns the deleted credentials.
  package func apply(
    by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws -> [CredentialTable.Lost] {
    try await connection.transaction { [keys] session throws(DatabaseError) in
      try Self.check(keys, in: session)
      let lost = try CredentialTable.unopened(with: keys, in: session)
      for credential in lost { try CredentialTable.delete(credential, in: session) }
      try MasterKeyTable.replace(with: keys.current, at: now, in: session)
      try author.note(
        "db.key", of: "database", "\(keys.current.id) accepted, \(lost.count) credentials deleted", at: now, in: session
      )
      return lost
    }
  }

  private static func check(_ keys: Keyring, in session: borrowing Session) throws(DatabaseError) {
    if try MasterKeyTable.inUse(in: session) == keys.current.id.description {
      throw .abandoned("the database is sealed under this master key (\(keys.current.id)) already")
    }
    if try ProcessTable.notes(in: session).contains(where: { !$0.isSilent }) {
      throw .abandoned("services run, and they have the database's key: copy it from their machine, or stop them")
    }
  }
}
