/// Why something cannot be sealed or opened.
public struct SealingError: Error, Equatable, Sendable, CustomStringConvertible {
  public enum Code: String, Sendable, CaseIterable {
    /// A master key's file is neither 32 bytes nor 64 hexadecimal digits.
    case malformedKey
    /// The bytes were never made by `seal`.
    case malformed
    /// Sealed under a master key that is not here.
    case wrongKey
    /// Changed since, or moved to another place than it was sealed for.
    case altered
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
