package import Database
package import Signing
package import Time

/// `master_keys`: the one master key under which this database is sealed.
///
/// Two machines with a data directory each would otherwise seal under two keys, and neither could open what the other stored.
package enum MasterKeyTable {
  /// The id of the key; nil where nothing was sealed yet.
  package static func inUse(in session: borrowing Session) throws(DatabaseError) -> String? {
    try session.query("SELECT key_id FROM master_keys").first?.text("key_id")
  }

  /// Since when the key is the database's.
  package static func since(in session: borrowing Session) throws(DatabaseError) -> Milliseconds? {
    try session.query("SELECT since FROM master_keys").first?.optionalMilliseconds("since")
  }

  /// Makes this the key of the database if it has none, and returns the id of the one that it has.
  package static func claim(
    _ key: MasterKey, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) -> String? {
    _ = try session.execute(
      "INSERT IGNORE INTO master_keys (slot, key_id, since) VALUES (1, \(key.id.description), \(now))")
    return try inUse(in: session)
  }

  /// Makes this the key of the database in the place of one that is lost.
  package static func replace(
    with key: MasterKey, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute("REPLACE INTO master_keys (slot, key_id, since) VALUES (1, \(key.id.description), \(now))")
  }
}
