package import Database
package import Ledger
package import Signing
package import Time

/// Lets an app's client be known by its certificate, where a proxy in front of the service authenticates it.
package struct AcceptClientCertificate: Sendable {
  private let issue: IssueToken
  private let certificate: CertificateFingerprint

  /// - Parameter label: what it is for; lists show the first 60 characters of it.
  package init(_ certificate: CertificateFingerprint, for bundleID: String, label: String) {
    issue = IssueToken(for: bundleID, label: label)
    self.certificate = certificate
  }

  /// The app whose client it would be; `NoSuchApp` when it is not registered.
  package func plan(on connection: Connection) async throws -> App { try await issue.plan(on: connection) }

  package func apply(_ app: App, by author: AuditContext, at now: Timestamp, on connection: Connection) async throws {
    let label = issue.shownLabel
    try await connection.transaction { [certificate] session throws(DatabaseError) in
      try TokenTable.accept(certificate, for: app, label: label, at: now, in: session)
      try author.note("app.certificate", of: app.bundleID, "\(certificate.digest.hex) \(label)", at: now, in: session)
    }
  }
}

/// Makes a bearer token by which an app's own back end reads and writes that app.
package struct IssueToken: Sendable {
  /// A token that was made: the only time it can be seen.
  package struct Issued: Sendable {
    package let token: String
    /// As it is kept.
    package let label: String
  }

  private static let longestLabel = 60

  private let label: String
  private let bundleID: String

  /// - Parameter label: what it is for; lists show the first 60 characters of it.
  package init(for bundleID: String, label: String) {
    self.bundleID = bundleID
    self.label = label
  }

  fileprivate var shownLabel: String { String(label.prefix(Self.longestLabel)) }

  /// The app that would have it; `NoSuchApp` when it is not registered.
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
