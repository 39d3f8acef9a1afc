import Database
import Ledger
import Runtime
import Signing
import Time

/// An app's shared secret, read from a file: never from the command line, where others can see it.
struct SharedSecretFile: Sendable {
  /// An app may have so many valid ones: the one in use, and the one that follows it.
  static let validAtOnce = 2

  private static let limit = 16 << 10
  private let secret: [UInt8]

  init(_ file: String) throws {
    let text = try Input.read(file, limit: Self.limit).reversed().drop { $0 <= 0x20 }.reversed()
    secret = Array(text.drop { $0 <= 0x20 })
    guard (1...255).contains(secret.count), secret.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw SecretFileError(file: file, reason: "a shared secret is one word of ASCII, 32 hexadecimal digits as a rule")
    }
  }

  /// What it is called in lists: it tells nothing to whoever lacks the master key, and the same secret twice is one row.
  func name(under keys: Keyring) -> String {
    String(keys.current.code(for: secret, purpose: "credential name").hex.prefix(8))
  }

  /// Seals it and makes it valid; refused when the app has two others.
  func put(
    for app: App, sealedWith keys: Keyring, at now: Milliseconds, in session: borrowing Session
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

/// A file in which the secret that was expected is not; its contents are never repeated.
struct SecretFileError: ExitStatusError, CustomStringConvertible {
  let file: String
  let reason: String

  var exitStatus: ExitStatus { .failed }
  var description: String { "\(file): \(reason)" }
}
