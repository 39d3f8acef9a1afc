package import Database
package import Signing
package import Time

/// `master_keys`: the ID of the one master key that seals this database.
///
/// It prevents two machines from sealing rows under two keys.
package enum MasterKeyTable {
  package static func inUse(in session: borrowing Session) throws(DatabaseError) -> String? {
    try session.query("SELECT key_id FROM master_keys").first?.text("key_id")
  }

  package static func since(in session: borrowing Session) throws(DatabaseError) -> Timestamp? {
    try session.query("SELECT since FROM master_keys").first?.optionalMilliseconds("since")
  }

  /// Makes `key` the database's key if it has no key.
  ///
  /// Returns the ID of the database's key.
  package static func claim(
    _ key: MasterKey, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> String? {
    _ = try session.execute(
      "INSERT IGNORE INTO master_keys (slot, key_id, since) VALUES (1, \(key.id.description), \(now))")
    return try inUse(in: session)
  }

  package static func replace(
    with key: MasterKey, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute("REPLACE INTO master_keys (slot, key_id, since) VALUES (1, \(key.id.description), \(now))")
  }
}
