/// Some rows of the input in one piece: what is worked on at once.
struct Block: Sendable {
  enum Content: Sendable {
    /// Whole rows, each with its line end (the last one perhaps without).
    case rows([UInt8])
    /// The beginning of a row that is longer than the limit; the rest was left out.
    case tooLarge([UInt8])
  }

  let format: RowFormat
  /// The file of a folder; nil when there is only one.
  let file: String?
  /// The line on which it begins, from 1.
  let line: Int
  let content: Content
}
