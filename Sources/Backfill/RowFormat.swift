/// How the rows of an input are written, told by how it begins.
package enum RowFormat: Hashable, Sendable {
  case csv(CSVColumns)
  /// One JSON object a line.
  case jsonLines
  /// One receipt a line; a tab and a reason may follow, as rejects have it.
  case receiptLines
  /// The whole input is one receipt: its own bytes, or base64 broken into lines.
  case wholeFile

  /// For the summary.
  package var name: String {
    switch self {
    case .csv: "csv"
    case .jsonLines: "jsonl"
    case .receiptLines: "lines"
    case .wholeFile: "receipt"
    }
  }

  /// What `beginning` is the beginning of.
  ///
  /// - Parameter beginning: two lines of it, if they are not too long; without a byte order mark.
  init(beginning: [UInt8]) {
    if beginning.count > 1, beginning[0] == 0x30, beginning[1] >= 0x80 {
      self = .wholeFile
      return
    }
    let lines = beginning.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false).map(\.withoutReturn)
    let first = lines.first { !$0.isBlank } ?? []
    if first.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
      self = Self.isJSON(first) ? .jsonLines : .wholeFile
    } else if let columns = CSVColumns(first: first) {
      self = .csv(columns)
    } else if lines.count > 1, Self.isWrapped(lines[0], lines[1]) {
      self = .wholeFile
    } else {
      self = .receiptLines
    }
  }

  /// An object begins with a quoted key, a property list (of an iOS 6 receipt) has a line break or `=`.
  private static func isJSON(_ line: ArraySlice<UInt8>) -> Bool {
    let inside = line.drop { $0 <= 0x20 }.dropFirst().drop { $0 <= 0x20 }
    guard let byte = inside.first else { return false }
    if byte == UInt8(ascii: "}") { return true }
    guard byte == UInt8(ascii: "\"") else { return false }
    return inside.dropFirst().drop { $0 != UInt8(ascii: "\"") }.dropFirst().first { $0 > 0x20 } == UInt8(ascii: ":")
  }

  /// Base64 in lines of 64 or 76: no receipt is as short as one of them.
  private static func isWrapped(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> Bool {
    (48...100).contains(first.count) && !second.isEmpty && second.count <= first.count
      && first.allSatisfy(\.isBase64) && second.allSatisfy(\.isBase64)
      && (second.count == first.count || !second.starts(with: first.prefix(4)))
  }
}

extension ArraySlice<UInt8> {
  /// Without the carriage return of a line that ends with two bytes.
  var withoutReturn: Self { last == 0x0D ? dropLast() : self }

  var isBlank: Bool { allSatisfy { $0 <= 0x20 } }
}

extension UInt8 {
  /// A letter of either base64 alphabet, or padding.
  var isBase64: Bool {
    switch self {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
      UInt8(ascii: "_"), UInt8(ascii: "="):
      true
    default: false
    }
  }
}
