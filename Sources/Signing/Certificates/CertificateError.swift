/// Why bytes are no certificate or key to work with.
public struct CertificateError: Error, Equatable, CustomStringConvertible {
  public enum Code: String, Sendable, CaseIterable {
    /// Neither DER nor PEM of what was expected, or something follows it.
    case malformed
    /// Extensions that do not parse or contradict each other.
    case invalidExtensions
    /// A period of validity that cannot be read or ends before it begins.
    case invalidDates
    /// A public or private key of a kind that does not serve here.
    case unusableKey
    /// A trusted root must be self-signed and allowed to issue certificates.
    case notARoot
    /// OpenSSL refused to make a key or a certificate.
    case cannotIssue
  }

  public let code: Code
  /// For people; never contents.
  public let detail: String

  package init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  public var description: String { "\(code.rawValue): \(detail)" }

  public static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}
