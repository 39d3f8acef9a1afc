package import Database
package import Signing
package import Time

/// `revoked_certificates`: the revocations that responders reported, shared by all processes and kept over restarts.
package enum RevokedCertificateTable {
  package static func all(in session: borrowing Session) throws(DatabaseError) -> [Digest: Timestamp] {
    var all: [Digest: Timestamp] = [:]
    for row in try session.query("SELECT fingerprint, revoked_at FROM revoked_certificates") {
      guard let fingerprint = Digest(bytes: try row.bytes("fingerprint")) else { continue }
      all[fingerprint] = try row.milliseconds("revoked_at")
    }
    return all
  }

  /// Stores a revocation.
  ///
  /// Its date can only become earlier.
  package static func note(
    _ fingerprint: Digest, since date: Timestamp, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO revoked_certificates (fingerprint, revoked_at, noted_at)
      VALUES (\(fingerprint.bytes), \(date), \(now))
      ON DUPLICATE KEY UPDATE revoked_at = LEAST(revoked_at, VALUES(revoked_at))
      """)
  }
}
