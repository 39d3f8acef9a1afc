import Database
import Ledger
package import Signing
import Time

/// An app's shared secret for verifyReceipt and Notifications V1.
package struct SharedSecret: Sendable {
  /// The maximum number of valid secrets of an app: the present one and its successor.
  package static let validAtOnce = 2

  private let secret: [UInt8]

  /// The secret itself, to send it to Apple.
  package var text: String { String(decoding: secret, as: UTF8.self) }

  /// Returns `nil` unless the text is one word of ASCII.
  ///
  /// Surrounding whitespace is ignored.
  package init?(_ text: [UInt8]) {
    secret = Array(text.reversed().drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 })
    guard (1...255).contains(secret.count), secret.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
  }

  /// Returns the name in lists.
  ///
  /// It reveals nothing without the master key, and equal secrets have the same name.
  package func name(under keys: Keyring) -> String {
    String(keys.current.code(for: secret, purpose: "credential name").hex.prefix(8))
  }

  /// Seals the secret and makes it valid.
  ///
  /// Refused if the app has two others.
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
