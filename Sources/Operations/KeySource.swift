package import Database
import Ledger
package import Runtime
package import Signing
import Time

package struct KeySource: Sendable {
  private let open: @Sendable (_ hasSealed: Bool) throws -> Keyring

  /// - Parameter open: receives whether the database has sealed data, whose key must be this one.
  package init(_ open: @escaping @Sendable (_ hasSealed: Bool) throws -> Keyring) { self.open = open }

  /// Creates a source of available keys.
  package init(_ keys: Keyring) { open = { _ in keys } }

  /// Opens the key, and claims it for a database without a key.
  ///
  /// Throws `OtherMasterKey` if the database has another key.
  package func keys(for connection: Connection) async throws -> Keyring {
    let known = try await connection.read { session throws(DatabaseError) in
      try MasterKeyTable.inUse(in: session)
    }
    let keys = try open(known != nil)
    let inUse =
      try await known == nil
      ? connection.transaction { session throws(DatabaseError) in
        try MasterKeyTable.claim(keys.current, at: WallClock.system.now(), in: session)
      } : known
    if let inUse, inUse != keys.current.id.description { throw OtherMasterKey(inUse: inUse, here: keys.current.id) }
    return keys
  }
}

/// An error: the database has another master key, so other machines could not open this one's data.
package struct OtherMasterKey: ExitStatusError, CustomStringConvertible {
  package let inUse: String
  package let here: MasterKey.ID

  package var exitStatus: ExitStatus { .failed }
  package var description: String {
    """
    the database is sealed under the master key \(inUse), this one is \(here): name the other machines' key with \
    --master-key-file. If that key is lost for good: `switchyard db key --accept-new`
    """
  }
}
