/// What came of a block, to be written in its turn.
struct BlockResult: Sendable {
  /// A row, in the order of the input.
  enum Entry: Sendable {
    /// Usable unless its digest is known by then: what it adds to the output ends here.
    case usable(ReceiptDigest, end: Int)
    /// A repetition of something that was already written when it was looked at.
    case duplicate
    case rejected(RejectReason)
  }

  /// The file of a folder; nil when there is only one.
  var file: String?
  var entries: [Entry] = []
  var output: [UInt8] = []
  var rejects: [UInt8] = []
  /// What stands above the first reject of this format.
  var rejectHeading: [UInt8]?
  /// Cells in `rejects` that a spreadsheet would run.
  var formulas = 0
  var doubtful: [AmbiguousLines] = []
  /// The first row with more or fewer fields than the header.
  var misfit: FieldCountMismatch?
}
