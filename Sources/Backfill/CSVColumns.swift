/// Where a table has what.
package struct CSVColumns: Hashable, Sendable {
  /// The byte between fields: a comma, a semicolon or a tab.
  let delimiter: UInt8
  let app: Int?
  let userID: Int?
  let receipt: Int
  /// The first line as it stands; nil when the columns were guessed and there is none.
  let header: [UInt8]?
  /// Whether the last column is the reason of an earlier rejection.
  let endsWithReason: Bool

  private static let delimiters = [UInt8(ascii: ","), UInt8(ascii: "\t"), UInt8(ascii: ";")]

  /// Nil when `first` is no line of a table: a receipt, say, in which none of the delimiters can stand.
  init?(first: ArraySlice<UInt8>) {
    let line = Array(first)
    for delimiter in Self.delimiters where line.contains(delimiter) {
      let fields = CSVFields(line.span, 0..<line.count, delimiter: delimiter).map { $0.value(in: line) }
      if let columns = Self(names: fields, header: line, delimiter: delimiter) {
        self = columns
        return
      }
      if let columns = Self(guessing: fields, delimiter: delimiter) {
        self = columns
        return
      }
    }
    // A table of one column has no delimiter; its name tells.
    guard let columns = Self(names: [CSVField(line).value(in: line)], header: line, delimiter: Self.delimiters[0])
    else { return nil }
    self = columns
  }

  /// By the names of a header.
  private init?(names: [ArraySlice<UInt8>], header: [UInt8], delimiter: UInt8) {
    let known = names.map { ColumnName($0) }
    guard let receipt = known.firstIndex(of: .receipt) else { return nil }
    self.receipt = receipt
    app = known.firstIndex(of: .app)
    userID = known.firstIndex(of: .userID)
    self.header = header
    self.delimiter = delimiter
    endsWithReason = known.last == .reason
  }

  /// By what stands in the first row: the longest field is the receipt, one with dots and letters the app, and what is
  /// left first the user.
  private init?(guessing fields: [ArraySlice<UInt8>], delimiter: UInt8) {
    guard fields.count > 1, let receipt = fields.indices.max(by: { fields[$0].count < fields[$1].count }),
      fields[receipt].count > 200
    else {
      return nil
    }
    // `receipt<tab>reason`: a rejected line of one receipt a line; mended, perhaps nothing follows the tab.
    if delimiter == UInt8(ascii: "\t"), fields.count == 2, fields[1].isBlank || RejectReason.isKnown(fields[1]) {
      return nil
    }
    let others = fields.indices.filter { $0 != receipt && !RejectReason.isKnown(fields[$0]) }
    app = others.first { Self.isBundleID(fields[$0]) }
    userID = others.first { [app] in $0 != app }
    self.receipt = receipt
    self.delimiter = delimiter
    header = nil
    endsWithReason = fields.last.map(RejectReason.isKnown) ?? false
  }

  /// `com.example.app`: dots between words of letters, digits and hyphens, not all of it digits.
  static func isBundleID(_ field: ArraySlice<UInt8>) -> Bool {
    let words = field.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    func isWordByte(_ byte: UInt8) -> Bool { byte.isBase64 && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "+") }
    return words.count > 1 && words.allSatisfy { !$0.isEmpty && $0.allSatisfy(isWordByte) }
      && words[0].contains { $0 >= UInt8(ascii: "A") }
  }
}
