import Database
import Purchases

/// The limits of one lookup in a table: all signed rows, and a reasonable number of unsigned rows.
///
/// Strangers can claim any data about an originalTransactionId. The omitted rows depend only on the table, so that a
/// rebuild omits the same ones.
struct ReadLimit {
  /// The maximum number of rows of one kind for the IDs of one piece.
  static let mostSigned = 25_000
  /// The maximum number of unsigned rows of one kind and source.
  static let mostClaimed = 10_000

  static func tooLarge(_ limit: Int) -> DatabaseError {
    DatabaseError(.tooLarge, "the id leads to more than \(limit) purchases")
  }

  /// The maximum number of signed rows.
  ///
  /// Above it a lookup throws `tooLarge`.
  var signed = Self.mostSigned
  /// The maximum number of unsigned rows of each source.
  ///
  /// Above it those with the last keys are read.
  var claimed = Self.mostClaimed
  private(set) var isCut = false

  /// Returns the rows of a table: all in key order if they are few, otherwise the signed ones and then the claims of
  /// each source.
  ///
  /// - Parameter read: reads at most `limit` of the rows that `further` selects, the last ones first if it is backward.
  mutating func rows<Item>(
    _ read: (_ further: SQL, _ isBackward: Bool, _ limit: Int) throws(DatabaseError) -> [Item]
  ) throws(DatabaseError) -> [Item] {
    let all = try read("", false, claimed + 1)
    if all.count <= claimed { return all }
    let sources = Source.allCases.filter(\.isSigned).map(\.rawValue)
    var rows = try read(" AND source IN (\(list: sources))", false, signed + 1)
    guard rows.count <= signed else { throw Self.tooLarge(signed) }
    for source in Source.allCases where !source.isSigned {
      rows += try claims { isBackward, limit throws(DatabaseError) in
        try read(" AND source = \(source.rawValue)", isBackward, limit)
      }
    }
    return rows
  }

  /// Returns the claims that `read` finds, in key order.
  ///
  /// If there are too many, those with the last keys.
  mutating func claims<Item>(
    _ read: (_ isBackward: Bool, _ limit: Int) throws(DatabaseError) -> [Item]
  ) throws(DatabaseError) -> [Item] {
    let claims = try read(true, claimed + 1)
    if claims.count > claimed { isCut = true }
    return claims.prefix(claimed).reversed()
  }
}
