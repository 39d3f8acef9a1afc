/// Which columns of a database's table hold what, by their names: as those of a CSV are found.
package struct TableColumns: Hashable, Sendable {
  /// Receipts; where there are none, ids by which Apple can be asked.
  package let content: String?
  package let userID: String?
  package let app: String?

  package init(guessing names: [String]) {
    let columns = names.map { Array($0.utf8)[...] }
    let receipt =
      ColumnName.index(of: .receipt, in: columns)
      ?? names.firstIndex { Self.mentions("receipt", $0) } ?? names.firstIndex(where: ColumnName.isOfID)
    content = receipt.map { names[$0] }
    userID = ColumnName.index(of: .userID, in: columns).map { names[$0] }
    app = ColumnName.index(of: .app, in: columns).map { names[$0] }
  }

  private static func mentions(_ word: String, _ name: String) -> Bool { name.lowercased().contains(word) }
}

extension ColumnName {
  /// Whether a column is called as those of ids are by which Apple can be asked.
  static func isOfID(_ name: String) -> Bool {
    let letters = String(decoding: name.utf8.filter { $0 != UInt8(ascii: "_") && $0 != 0x20 }, as: UTF8.self)
    return ["originaltransactionid", "transactionid", "originaltransactionidentifier", "transactionidentifier"]
      .contains(letters.lowercased())
  }
}
