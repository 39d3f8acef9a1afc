/// The reason why bytes are not a usable certificate or key.
public struct CertificateError: Error, Equatable, CustomStringConvertible {
  public enum Code: String, Sendable, CaseIterable {
    /// Neither DER nor PEM of the expected kind, or with trailing bytes.
    case malformed
    /// Extensions that do not parse or contradict each other.
    case invalidExtensions
    /// A period of validity that is unreadable or ends before it begins.
    case invalidDates
    case unusableKey
    /// A trusted root must be self-signed and allowed to issue certificates.
    case notARoot
    case cannotIssue
  }

  public let code: Code
  /// The text for people, without contents.
  public let detail: String

  package init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  public var description: String { "\(code.rawValue): \(detail)" }

  public static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}
