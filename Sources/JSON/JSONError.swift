/// How much JSON is accepted.
public struct JSONLimits: Sendable {
  public var bytes: Int
  /// Objects and arrays inside each other.
  public var depth: Int

  public init(bytes: Int, depth: Int) {
    self.bytes = bytes
    self.depth = depth
  }

  /// 1 MiB, 32 levels: Apple's deepest message has six.
  public static let standard = Self(bytes: 1 << 20, depth: 32)
}

/// Why bytes are no acceptable JSON, and the offset at which reading stopped.
///
/// Contents are never repeated: they may be secret.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Code: String, Sendable, CaseIterable {
    case tooLarge, tooDeep, truncated, unexpectedByte, invalidNumber, invalidEscape, controlCharacter, notUTF8,
      duplicateKey, trailingBytes
  }

  public let code: Code
  public let offset: Int

  public init(_ code: Code, at offset: Int) {
    self.code = code
    self.offset = offset
  }

  public var description: String { "\(code.rawValue) at byte \(offset)" }
}
