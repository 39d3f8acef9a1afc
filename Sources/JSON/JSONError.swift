/// How much JSON is accepted.
public struct JSONLimits: Sendable {
  public var bytes: Int
  /// Objects and arrays inside each other.
  public var depth: Int
  /// Values of all kinds, objects and arrays included.
  ///
  /// A value takes some 100 bytes of memory however short it is written: without this limit `[0],[0],…` would take 28 times
  /// its own length.
  public var values: Int

  /// - Parameter values: one for every 16 bytes of `bytes` if `nil`, and never fewer than 4,096. Of Apple's messages and
  ///   answers each value has 32 bytes or more.
  public init(bytes: Int, depth: Int, values: Int? = nil) {
    self.bytes = bytes
    self.depth = depth
    self.values = values ?? max(4_096, bytes / 16)
  }

  /// 1 MiB, 32 levels, 65,536 values: Apple's deepest message has six levels.
  public static let standard = Self(bytes: 1 << 20, depth: 32)

  /// For what was accepted before, and is stored: of any length, with any number of values.
  ///
  /// A part of a long answer may have more values than a message of its length may have, and written anew a text may be six
  /// times as long. Reading must not fail on what writing took.
  public static let stored = Self(bytes: .max, depth: 32, values: .max)
}

/// Why bytes are no acceptable JSON, and the offset at which reading stopped.
///
/// Contents are never repeated: they may be secret.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Code: String, Sendable, CaseIterable {
    case tooLarge, tooDeep, tooManyValues, truncated, unexpectedByte, invalidNumber, invalidEscape, controlCharacter,
      notUTF8, duplicateKey, trailingBytes
  }

  public let code: Code
  public let offset: Int

  public init(_ code: Code, at offset: Int) {
    self.code = code
    self.offset = offset
  }

  public var description: String { "\(code.rawValue) at byte \(offset)" }
}
