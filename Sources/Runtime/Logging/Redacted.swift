/// Stands for a secret in a log line: prints `hash:1f0c9a2b`, never the value, and does not even hold it.
///
/// The same secret prints the same tag for as long as the process lives, so that two lines can be compared. The hash is
/// keyed with the process's random seed (`Hasher`): nobody can find a short secret by trying. Where a tag must be the
/// same on every node, hand in the SHA-256 that the signing room computed.
package struct Redacted: Hashable, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ secret: some Hashable) {
    var hasher = Hasher()
    hasher.combine(secret)
    let digits = String(UInt32(truncatingIfNeeded: hasher.finalize()), radix: 16)
    description = "hash:" + String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// The first four bytes of a digest: only of values too long to guess, such as a receipt or a JWS.
  package init(digest: [UInt8]) {
    description = "hash:" + digest.prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
