/// Which columns of a database's table hold what, by their names: as those of a CSV are found.
package struct TableColumns: Hashable, Sendable {
  /// Receipts; where there are none, ids by which Apple can be asked.
  package let content: String?
  package let userID: String?
  package let app: String?
  /// Ids by which Apple can be asked where the content is of no use.
  package let id: String?

  package init(guessing names: [String]) {
    let columns = names.map { Array($0.utf8)[...] }
    let receipt =
      ColumnName.index(of: .receipt, in: columns)
      ?? names.firstIndex { Self.mentions("receipt", $0) } ?? ColumnName.indexOfID(in: columns)
    content = receipt.map { names[$0] }
    userID = ColumnName.index(of: .userID, in: columns).map { names[$0] }
    app = ColumnName.index(of: .app, in: columns).map { names[$0] }
    id = ColumnName.indexOfID(in: columns).map { names[$0] }
  }

  private static func mentions(_ word: String, _ name: String) -> Bool { name.lowercased().contains(word) }
}

extension ColumnName {
  /// The names of columns of ids by which Apple can be asked; of several in one row the first decides.
  private static let ids = [
    "originaltransactionid", "originaltransactionidentifier", "transactionid", "transactionidentifier",
  ]

  /// The rank of a name among those of ids; nil for another name.
  static func rankOfID(_ name: some Sequence<UInt8>) -> Int? {
    let letters = String(decoding: name.filter { $0 != UInt8(ascii: "_") && $0 != 0x20 }, as: UTF8.self)
    return ids.firstIndex(of: letters.lowercased())
  }

  static func indexOfID(in names: [ArraySlice<UInt8>]) -> Int? {
    let ranks = names.map { rankOfID($0) ?? Int.max }
    guard let best = ranks.min(), best < .max else { return nil }
    return ranks.firstIndex(of: best)
  }
}
