/// The cells of a written table that a spreadsheet would run as formulas: whoever stored the rows may have made them up.
package struct FormulaCells: Sendable {
  /// Whether they get an apostrophe in front, by which a spreadsheet takes them for text.
  package let areQuoted: Bool
  package private(set) var count = 0

  package init(areQuoted: Bool = false) { self.areQuoted = areQuoted }

  /// Counts the cell if it is one; whether it is to get an apostrophe.
  mutating func take(_ cell: ArraySlice<UInt8>) -> Bool {
    guard Self.isFormula(cell) else { return false }
    count += 1
    return areQuoted
  }

  /// A minus alone, and a number, are none.
  private static func isFormula(_ cell: ArraySlice<UInt8>) -> Bool {
    switch cell.first {
    case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "@"), UInt8(ascii: "\t"), UInt8(ascii: "\r"): true
    case UInt8(ascii: "-"): !cell.dropFirst().allSatisfy(isOfNumber)
    default: false
    }
  }

  private static func isOfNumber(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
  }

  /// What to say of so many that are written as they came.
  package static func warning(_ count: Int) -> String {
    "\(count) cells begin as a formula does (=, +, -, @): open the file in a spreadsheet only with --for-spreadsheet, which puts an "
      + "apostrophe in front of them"
  }
}
