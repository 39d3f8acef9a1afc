package import Database
package import Signing
package import Time

/// `app_tokens`: digests of the bearer tokens of an app's back end and of its clients' certificates.
package enum TokenTable {
  package struct Record: Sendable {
    /// The first digits of the digest: enough to name a token, useless to a thief.
    package let name: String
    package let label: String
    package let createdAt: Timestamp
    package let revokedAt: Timestamp?
  }

  /// Creates a token and returns it.
  ///
  /// It cannot be shown again.
  package static func issue(
    for app: App, label: String, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> String {
    let token = "sy_" + String(decoding: Base64.url.encode(.random(count: 32)), as: UTF8.self)
    try accept(token, for: app, label: label, at: now, in: session)
    return token
  }

  /// Accepts a client's certificate, which a proxy reports, like a token.
  ///
  /// Repetition changes nothing.
  package static func accept(
    _ certificate: CertificateFingerprint, for app: App, label: String, at now: Timestamp,
    in session: borrowing Session
  ) throws(DatabaseError) {
    try accept(text(of: certificate), for: app, label: label, at: now, in: session)
  }

  /// The line break prevents a client from sending the public fingerprint as a token: headers cannot contain one.
  static func text(of certificate: CertificateFingerprint) -> String { "certificate\n\(certificate.digest.hex)" }

  /// Accepts a token that was created elsewhere.
  ///
  /// Repetition changes nothing.
  package static func accept(
    _ token: String, for app: App, label: String, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO app_tokens (digest, app, label, created_at)
      VALUES (\(Digest.sha256(Array(token.utf8)).bytes), \(app.id.number), \(label), \(now))
      ON DUPLICATE KEY UPDATE revoked_at = NULL
      """)
  }

  /// Returns every token of the app, revoked ones included, oldest first.
  package static func list(of app: App, in session: borrowing Session) throws(DatabaseError) -> [Record] {
    var entries: [Record] = []
    for row in try session.query(
      "SELECT digest, label, created_at, revoked_at FROM app_tokens WHERE app = \(app.id.number) ORDER BY created_at")
    {
      let name = Digest(bytes: try row.bytes("digest"))?.hex.prefix(8) ?? ""
      entries.append(
        Record(
          name: String(name), label: try row.text("label"), createdAt: try row.milliseconds("created_at"),
          revokedAt: try row.optionalMilliseconds("revoked_at")))
    }
    return entries
  }

  /// Revokes the tokens whose name has this prefix and returns their number.
  package static func revoke(
    _ name: [UInt8], of app: App, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> UInt64 {
    let end = name + [UInt8](repeating: 0xFF, count: max(0, Digest.count - name.count))
    return try session.execute(
      """
      UPDATE app_tokens SET revoked_at = \(now)
      WHERE app = \(app.id.number) AND revoked_at IS NULL AND digest BETWEEN \(name) AND \(end)
      """
    ).affectedRows
  }
}
