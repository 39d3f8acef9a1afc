package import Database
package import Ledger
import Signing
package import Time

/// Registers an app, updates its registration, or restores a removed app.
package struct RegisterApp: Sendable {
  package struct APIKey: Sendable {
    let pem: [UInt8]
    let id: String
    let issuer: String

    package init(pem: [UInt8], id: String, issuer: String) {
      self.pem = pem
      self.id = id
      self.issuer = issuer
    }
  }

  package struct Plan: Sendable {
    package let before: App?
    /// One sentence for each change, or one that reports no change.
    package let changes: [String]
  }

  private let bundleID: String
  private let appAppleID: Int64?
  private let apiKey: APIKey?
  private let sharedSecret: SharedSecret?

  /// - Parameter bundleID: must satisfy `isBundleID`.
  package init(
    _ bundleID: String, appAppleID: Int64? = nil, apiKey: APIKey? = nil, sharedSecret: SharedSecret? = nil
  ) {
    self.bundleID = bundleID
    self.appAppleID = appAppleID
    self.apiKey = apiKey
    self.sharedSecret = sharedSecret
  }

  package static func isBundleID(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  package func plan(on connection: Connection) async throws -> Plan {
    let before = try await connection.read { [bundleID] session throws(DatabaseError) in
      try AppTable.find(bundleID, in: session)
    }
    var changes: [String] = []
    if before == nil { changes.append("register \(bundleID), beginning in record") }
    if let appAppleID, appAppleID != before?.appAppleID {
      changes.append("Apple id \(before?.appAppleID.map { "\($0) to " } ?? "")\(appAppleID)")
    }
    if let apiKey { changes.append("seal apiKey \(apiKey.id)") }
    if sharedSecret != nil { changes.append("seal sharedSecret") }
    return Plan(
      before: before, changes: changes.isEmpty ? ["nothing to change: \(bundleID) is registered so"] : changes)
  }

  /// Registers the app.
  ///
  /// Refused if it has its maximum of valid shared secrets.
  package func apply(
    _ plan: Plan, sealedWith source: KeySource, by author: AuditContext, at now: Timestamp, on connection: Connection
  ) async throws {
    let keys = apiKey == nil && sharedSecret == nil ? nil : try await source.keys(for: connection)
    try await connection.transaction { session throws(DatabaseError) in
      let app = try AppTable.add(bundleID: bundleID, appAppleID: appAppleID, at: now, in: session)
      if let keys {
        if let apiKey {
          try CredentialTable.put(
            apiKey.pem, kind: .apiKey, name: apiKey.id, issuer: apiKey.issuer, of: app, sealedWith: keys, at: now,
            in: session)
        }
        try sharedSecret?.put(for: app, sealedWith: keys, at: now, in: session)
      }
      try author.note("app.add", of: bundleID, plan.changes.joined(separator: "; "), at: now, in: session)
    }
  }
}
