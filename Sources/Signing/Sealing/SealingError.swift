/// The reason why data cannot be sealed or opened.
public struct SealingError: Error, Equatable, Sendable, CustomStringConvertible {
  public enum Code: String, Sendable, CaseIterable {
    /// A master key's file is neither 32 bytes nor 64 hexadecimal digits.
    case malformedKey
    /// The bytes are not from `seal`.
    case malformed
    /// Sealed under a missing master key.
    case wrongKey
    /// Changed since, or moved to another location than it was sealed for.
    case altered
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
