package import Database
import Purchases
package import Time

/// An endpoint for an app's messages.
package struct Destination: Hashable, Sendable {
  /// The destination's number in this database.
  package struct ID: Hashable, Sendable, Comparable {
    package let number: Int

    package init(_ number: Int) { self.number = number }

    package static func < (a: Self, b: Self) -> Bool { a.number < b.number }
  }

  package enum Form: String, Hashable, Sendable, CaseIterable {
    case asReceived = "received"
  }

  package static let legacy = "legacy"

  package let id: ID
  package let scope: AppScope
  package let name: String
  package let url: String
  package let form: Form
  /// Whether messages are sent and new ones are added to the outbox.
  package let isEnabled: Bool

  /// The host and port.
  ///
  /// Logs and the audit omit the rest, which may hold secrets.
  package var host: String { Self.host(of: url) }

  package static func host(of url: String) -> String {
    guard let start = url.firstRange(of: "://") else { return "?" }
    return String(url[start.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" })
  }

  /// Whether a URL is on this machine: `localhost`, `[::1]` or an address of 127.0.0.0/8.
  package static func isLoopback(_ url: String) -> Bool {
    let authority = host(of: url)
    if authority.hasPrefix("[") { return authority.hasPrefix("[::1]") }
    let name = authority.prefix { $0 != ":" }
    // A host name may also begin with "127.".
    let isAddress = name.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
    return name.lowercased() == "localhost" || (isAddress && name.hasPrefix("127."))
  }
}

package enum DestinationTable {
  package static func all(in session: borrowing Session) throws(DatabaseError) -> [Destination] {
    var found: [Destination] = []
    for row in try session.query(
      "SELECT id, app, environment, name, url, form, enabled FROM destinations ORDER BY id")
    {
      found.append(try destination(of: row))
    }
    return found
  }

  static func destination(of row: Row) throws(DatabaseError) -> Destination {
    guard let form = Destination.Form(rawValue: try row.text("form")) else {
      throw DatabaseError(.column, "a destination's form this build does not know: \(try row.text("form"))")
    }
    return Destination(
      id: Destination.ID(try row.int("id")),
      scope: AppScope(app: App.ID(try row.int("app")), environment: try Environment(code: row.int("environment"))),
      name: try row.text("name"), url: try row.text("url"), form: form, isEnabled: try row.bool("enabled"))
  }

  /// Returns the destination of an app in one environment, or `nil` if it was never set.
  package static func legacy(of scope: AppScope, in session: borrowing Session) throws(DatabaseError) -> Destination? {
    try all(in: session).first { $0.scope == scope && $0.name == Destination.legacy }
  }

  /// Sets the destination or its new URL.
  ///
  /// Queued messages go to the new URL.
  package static func setLegacy(
    _ url: String, of scope: AppScope, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO destinations (app, environment, name, url, form, enabled, created_at, changed_at)
      VALUES (\(scope.app.number), \(scope.environment.code), \(Destination.legacy), \(url),
        \(Destination.Form.asReceived.rawValue), 1, \(now), \(now))
      ON DUPLICATE KEY UPDATE url = VALUES(url), enabled = 1, changed_at = VALUES(changed_at)
      """)
  }

  /// Disables forwarding.
  ///
  /// Queued messages stay until the destination is enabled again.
  package static func disable(
    _ destination: Destination, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      "UPDATE destinations SET enabled = 0, changed_at = \(now) WHERE id = \(destination.id.number)")
  }
}
