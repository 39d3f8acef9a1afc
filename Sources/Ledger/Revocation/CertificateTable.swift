package import Database
package import Signing
package import Time

extension Migration {
  // What responders said of Apple's certificates, for all processes: a revocation must outlive the process that heard
  // of it. A row is written by whoever asked; there are a handful.
  static let certificates: SQL = """
    CREATE TABLE IF NOT EXISTS certificates (
      fingerprint BINARY(32) NOT NULL PRIMARY KEY,
      serial_number VARBINARY(64) NOT NULL,
      status TINYINT UNSIGNED NOT NULL,
      revoked_at BIGINT NULL,
      reason TINYINT UNSIGNED NULL,
      this_update BIGINT NOT NULL,
      next_update BIGINT NOT NULL,
      heard_at BIGINT NOT NULL
    ) ENGINE=InnoDB
    """
}

/// `certificates`: what was last believed of each certificate that signs for Apple.
package enum CertificateTable {
  private static let (good, revoked, unknown, nobodyToAsk) = (1, 2, 3, 4)

  /// Every certificate that was asked about.
  package static func all(in session: borrowing Session) throws(DatabaseError) -> [CertificateStanding] {
    try read("WHERE status <> \(nobodyToAsk)", in: session)
  }

  /// The serial numbers of certificates that name nobody who could be asked.
  package static func unvouchable(in session: borrowing Session) throws(DatabaseError) -> [String] {
    try session.query("SELECT serial_number FROM certificates WHERE status = \(nobodyToAsk) ORDER BY serial_number")
      .map { row throws(DatabaseError) in try row.text(0) }
  }

  /// Notes that a certificate names no responder; what was heard of it in spite of that stays.
  package static func noteNobodyToAsk(
    about certificate: Digest, serialNumber: String, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO certificates (fingerprint, serial_number, status, this_update, next_update, heard_at)
      VALUES (\(certificate.bytes), \(serialNumber), \(nobodyToAsk), \(now), \(now), \(now))
      ON DUPLICATE KEY UPDATE fingerprint = VALUES(fingerprint)
      """)
  }

  private static func read(
    _ condition: SQL, in session: borrowing Session
  ) throws(DatabaseError) -> [CertificateStanding] {
    var found: [CertificateStanding] = []
    for row in try session.query(
      """
      SELECT fingerprint, serial_number, status, revoked_at, reason, this_update, next_update FROM certificates
      \(condition)
      """)
    {
      guard let certificate = Digest(bytes: try row.bytes("fingerprint")) else { continue }
      let status: OCSPAnswer.Status
      switch (try row.int("status"), try row.optionalMilliseconds("revoked_at")) {
      case (revoked, let date?): status = .revoked(at: date, reason: try row.optionalInt64("reason").map { Int($0) })
      case (good, _): status = .good
      default: status = .unknown
      }
      found.append(
        CertificateStanding(
          certificate: certificate, serialNumber: try row.text("serial_number"), status: status,
          thisUpdate: try row.milliseconds("this_update"), nextUpdate: try row.milliseconds("next_update")))
    }
    return found
  }

  /// Writes what is believed of a certificate now; a revocation is not written over by what does not know of it.
  package static func note(
    _ standing: CertificateStanding, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    let known = try read(
      "WHERE fingerprint = \(standing.certificate.bytes) AND status <> \(nobodyToAsk) FOR UPDATE", in: session
    ).first
    let believed = known?.followed(by: standing) ?? standing
    let (status, date, reason): (Int, Milliseconds?, Int64?) =
      switch believed.status {
      case .good: (good, nil, nil)
      case .revoked(let date, let reason): (revoked, date, reason.map { Int64($0) })
      case .unknown: (unknown, nil, nil)
      }
    _ = try session.execute(
      """
      INSERT INTO certificates
        (fingerprint, serial_number, status, revoked_at, reason, this_update, next_update, heard_at)
      VALUES (\(believed.certificate.bytes), \(believed.serialNumber), \(status), \(date),
        \(reason.sqlValue), \(believed.thisUpdate), \(believed.nextUpdate), \(now))
      ON DUPLICATE KEY UPDATE status = VALUES(status), revoked_at = VALUES(revoked_at), reason = VALUES(reason),
        this_update = VALUES(this_update), next_update = VALUES(next_update), heard_at = VALUES(heard_at)
      """)
  }
}
