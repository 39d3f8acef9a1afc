/// What a column or a key is about, by the names that tables give it.
enum ColumnName {
  case app, userID, receipt, reason

  /// The names of each, without separators; of several in one row the first decides.
  ///
  /// A bundle id can be held against the receipt, and an id identifies an account better than a name.
  private static let names: [(column: ColumnName, names: [String])] = [
    (.app, ["bundleid", "bundle", "bid", "app", "appid", "application", "applicationid"]),
    (
      .userID,
      ["userid", "uid", "user", "customerid", "customer", "accountid", "account", "ownerid", "owner", "username"]
    ),
    (
      .receipt,
      [
        "receipt", "receiptdata", "latestreceipt", "appreceipt", "appstorereceipt", "transactionreceipt",
        "base64receipt", "receiptbase64", "encodedreceipt",
      ]
    ),
    (.reason, ["reason"]),
  ]

  private static let known: [String: (column: ColumnName, rank: Int)] = names.reduce(into: [:]) { known, entry in
    for (rank, name) in entry.names.enumerated() { known[name] = (entry.column, rank) }
  }

  /// Returns what `name` stands for and its rank among the names of the same, 0 for the first; nil for a name of
  /// something else.
  ///
  /// Case, `_`, `-`, `.` and spaces make no difference.
  static func ranked(_ name: some Sequence<UInt8>) -> (column: ColumnName, rank: Int)? {
    let letters = name.filter { ![0x20, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains($0) }
    return known[String(decoding: letters, as: UTF8.self).lowercased()]
  }

  /// Nil for a name of something else.
  init?(_ name: some Sequence<UInt8>) {
    guard let (column, _) = Self.ranked(name) else { return nil }
    self = column
  }

  /// Returns the index of the name that decides about `column`; the first of equal ones.
  static func index(of column: ColumnName, in names: [ArraySlice<UInt8>]) -> Int? {
    let ranks = names.map { name in ranked(name).flatMap { $0.column == column ? $0.rank : nil } ?? Int.max }
    guard let best = ranks.min(), best < .max else { return nil }
    return ranks.firstIndex(of: best)
  }
}
