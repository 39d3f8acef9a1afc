import Signing

/// The apps' valid shared secrets, for comparison.
///
/// It holds codes under a key of this process, never the secrets.
package struct SharedSecrets: Sendable {
  private static let key = MasterKey.generate()
  private let codes: [App.ID: [Digest]]

  package init(_ secrets: [App.ID: [[UInt8]]] = [:]) {
    codes = secrets.mapValues { $0.map(Self.code) }
  }

  private static func code(of secret: [UInt8]) -> Digest { key.code(for: secret, purpose: "shared secret") }

  func hasAny(of app: App.ID) -> Bool { codes[app]?.isEmpty == false }

  /// Returns the apps that have this secret.
  ///
  /// It compares all of them, in constant time.
  func holders(of secret: String, among apps: [App]) -> [App] {
    let code = Self.code(of: Array(secret.utf8))
    return apps.filter { app in
      var isKnown = false
      for known in codes[app.id] ?? [] where known.isEqualInConstantTime(to: code) { isKnown = true }
      return isKnown
    }
  }
}
