/// Finds where the elements of a JSON array begin and end, byte by byte; what is in them is not read.
///
/// Brackets, commas and white space outside of elements separate them: so arrays may follow each other, and an array
/// within an array is read as its elements.
struct ElementScan {
  enum Step {
    case none
    /// An element begins with this byte.
    case begins
    /// The element ends with this byte.
    case ends
    /// The element ended with the byte before.
    case endedBefore
  }

  private enum State {
    case outside
    /// In a number or a word, which has no end of its own.
    case word
    case text
    case escape
    /// In objects and arrays within an element, so many of them.
    case nested(Int)
    case nestedText(Int)
    case nestedEscape(Int)
  }

  private var state = State.outside

  /// Whether an element has begun and not ended.
  var isInside: Bool { if case .outside = state { false } else { true } }

  mutating func step(_ byte: UInt8) -> Step {
    let quote = UInt8(ascii: "\"")
    let backslash = UInt8(ascii: "\\")
    switch state {
    case .outside:
      if Self.separates(byte) { return .none }
      state = byte == quote ? .text : byte == UInt8(ascii: "{") ? .nested(1) : .word
      return .begins
    case .word:
      guard Self.separates(byte) else { return .none }
      state = .outside
      return .endedBefore
    case .text:
      if byte == backslash { state = .escape }
      guard byte == quote else { return .none }
      state = .outside
      return .ends
    case .escape: state = .text
    case .nested(let depth):
      if byte == quote { state = .nestedText(depth) }
      if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { state = .nested(depth + 1) }
      guard byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") else { return .none }
      state = depth == 1 ? .outside : .nested(depth - 1)
      return depth == 1 ? .ends : .none
    case .nestedText(let depth):
      if byte == backslash { state = .nestedEscape(depth) }
      if byte == quote { state = .nested(depth) }
    case .nestedEscape(let depth): state = .nestedText(depth)
    }
    return .none
  }

  private static func separates(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]")
  }
}
