package import Database
package import Signing
package import Time

/// `master_keys`: the id of the one master key that seals this database.
///
/// Without it two machines, each with a data directory, would seal under two keys, and neither could open the other's rows.
package enum MasterKeyTable {
  /// The id of the key; nil before the first key was claimed.
  package static func inUse(in session: borrowing Session) throws(DatabaseError) -> String? {
    try session.query("SELECT key_id FROM master_keys").first?.text("key_id")
  }

  /// When the key became the database's.
  package static func since(in session: borrowing Session) throws(DatabaseError) -> Timestamp? {
    try session.query("SELECT since FROM master_keys").first?.optionalMilliseconds("since")
  }

  /// Makes this the database's key if it has no key, and returns the id of the database's key.
  package static func claim(
    _ key: MasterKey, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> String? {
    _ = try session.execute(
      "INSERT IGNORE INTO master_keys (slot, key_id, since) VALUES (1, \(key.id.description), \(now))")
    return try inUse(in: session)
  }

  /// Replaces a lost key.
  package static func replace(
    with key: MasterKey, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute("REPLACE INTO master_keys (slot, key_id, since) VALUES (1, \(key.id.description), \(now))")
  }
}
