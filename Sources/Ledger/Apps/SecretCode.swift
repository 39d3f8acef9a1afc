package import Signing

/// A shared secret as it may be kept and compared: an HMAC under a master key, and which key that is.
///
/// Written `hmac-sha256:KEY:CODE`, both in hexadecimal digits.
package struct SecretCode: Hashable, Sendable {
  private let key: String
  private let digest: Digest

  private static let mark = "hmac-sha256"
  /// What every written code begins with.
  package static let beginning = Array("\(mark):".utf8)

  /// The code of `secret`, as only the holder of the master key can make it.
  package init(of secret: [UInt8], under key: MasterKey) {
    self.key = key.id.description
    digest = key.code(for: secret, purpose: "v1 password")
  }

  /// Nil when the text is no code.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == Self.mark, let digest = Digest(hex: String(parts[2])) else { return nil }
    key = String(parts[1])
    self.digest = digest
  }

  package var text: String { "\(Self.mark):\(key):\(digest.hex)" }

  /// Whether both are of one secret under one key, in a time that does not depend on the secret.
  package func matches(_ other: Self) -> Bool { digest.isEqualInConstantTime(to: other.digest) && key == other.key }
}
