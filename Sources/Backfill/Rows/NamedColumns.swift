/// The names of the columns of a table, or of the members of JSON objects, that an operator gave.
///
/// What has no name here is found by the usual names. A name counts as it is written; spaces around a header do not.
package struct NamedColumns: Hashable, Sendable {
  package var receipt: String?
  package var userID: String?
  package var app: String?

  package init(receipt: String? = nil, userID: String? = nil, app: String? = nil) {
    (self.receipt, self.userID, self.app) = (receipt, userID, app)
  }

  package var isEmpty: Bool { receipt == nil && userID == nil && app == nil }

  private func name(of column: ColumnName) -> String? {
    switch column {
    case .receipt: receipt
    case .userID: userID
    case .app: app
    case .reason: nil
    }
  }

  /// Returns the index of the header that decides about `column`.
  func index(of column: ColumnName, in headers: [ArraySlice<UInt8>]) -> Int? {
    guard let name = name(of: column) else { return ColumnName.index(of: column, in: headers) }
    return headers.firstIndex { Self.isCalled($0, name) }
  }

  /// Returns whether one of these headers or members is called so.
  package static func contains(_ name: String, in names: [String]) -> Bool {
    names.contains { isCalled(Array($0.utf8)[...], name) }
  }

  private static func isCalled(_ header: ArraySlice<UInt8>, _ name: String) -> Bool {
    var header = header.drop { $0 == 0x20 }
    while header.last == 0x20 { header.removeLast() }
    return header.elementsEqual(name.utf8)
  }

  /// Returns what a member stands for and its rank, as `ColumnName.ranked` does.
  func ranked(_ member: String) -> (column: ColumnName, rank: Int)? {
    if isEmpty { return ColumnName.ranked(member.utf8) }
    for column in [ColumnName.receipt, .userID, .app] {
      if let name = name(of: column), name.utf8.elementsEqual(member.utf8) { return (column, 0) }
    }
    guard let usual = ColumnName.ranked(member.utf8), name(of: usual.column) == nil else { return nil }
    return usual
  }
}
