package import Database
package import Ledger
package import Signing
package import Time

/// Accepts the certificate of an app's client, which a proxy in front of the service authenticates.
package struct AcceptClientCertificate: Sendable {
  private let issue: IssueToken
  private let certificate: CertificateFingerprint

  /// - Parameter label: the purpose.
  ///
  /// Lists show its first 60 characters.
  package init(_ certificate: CertificateFingerprint, for bundleID: String, label: String) {
    issue = IssueToken(for: bundleID, label: label)
    self.certificate = certificate
  }

  /// Returns the app.
  ///
  /// Throws `NoSuchApp`.
  package func plan(on connection: Connection) async throws -> App { try await issue.plan(on: connection) }

  package func apply(_ app: App, by author: AuditContext, at now: Timestamp, on connection: Connection) async throws {
    let label = issue.shownLabel
    try await connection.transaction { [certificate] session throws(DatabaseError) in
      try TokenTable.accept(certificate, for: app, label: label, at: now, in: session)
      try author.note("app.certificate", of: app.bundleID, "\(certificate.digest.hex) \(label)", at: now, in: session)
    }
  }
}

/// Issues a bearer token by which an app's own back end reads and writes that app.
package struct IssueToken: Sendable {
  package struct Issued: Sendable {
    package let token: String
    package let label: String
  }

  private static let longestLabel = 60

  private let label: String
  private let bundleID: String

  /// - Parameter label: the purpose.
  ///
  /// Lists show its first 60 characters.
  package init(for bundleID: String, label: String) {
    self.bundleID = bundleID
    self.label = label
  }

  fileprivate var shownLabel: String { String(label.prefix(Self.longestLabel)) }

  /// Returns the app.
  ///
  /// Throws `NoSuchApp`.
  package func plan(on connection: Connection) async throws -> App {
    try await AppRecord.find(bundleID, connection).app
  }

  package func apply(
    _ app: App, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws -> Issued {
    let label = shownLabel
    return try await connection.transaction { session throws(DatabaseError) in
      let token = try TokenTable.issue(for: app, label: label, at: now, in: session)
      try author.note("app.token", of: app.bundleID, label, at: now, in: session)
      return Issued(token: token, label: label)
    }
  }
}
