import Database
import Ledger
package import Signing
import Time

/// An app's shared secret of verifyReceipt and Notifications V1.
package struct SharedSecret: Sendable {
  /// An app may have so many valid ones: the one in use, and the one that follows it.
  package static let validAtOnce = 2

  private let secret: [UInt8]

  /// The secret itself, to be sent to Apple.
  package var text: String { String(decoding: secret, as: UTF8.self) }

  /// Nil for what is not one word of ASCII; spaces and ends of lines around it do not count.
  package init?(_ text: [UInt8]) {
    secret = Array(text.reversed().drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 })
    guard (1...255).contains(secret.count), secret.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
  }

  /// What it is called in lists: it tells nothing to whoever lacks the master key, and the same secret twice is one row.
  package func name(under keys: Keyring) -> String {
    String(keys.current.code(for: secret, purpose: "credential name").hex.prefix(8))
  }

  /// Seals it and makes it valid; refused when the app has two others.
  func put(
    for app: App, sealedWith keys: Keyring, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    let valid = try CredentialTable.open(.sharedSecret, with: keys, in: session)
    if valid.opened.contains(where: { $0.app == app.id && $0.secret == secret }) { return }
    let count = valid.opened.count { $0.app == app.id } + valid.unopened.count { $0.app == app.id }
    guard count < Self.validAtOnce else {
      throw .abandoned(
        "\(app.bundleID) has \(count) valid shared secrets: end one with `switchyard app secret --retire NAME` first")
    }
    try CredentialTable.put(
      secret, kind: .sharedSecret, name: name(under: keys), issuer: "", of: app, sealedWith: keys, at: now,
      in: session)
  }
}
