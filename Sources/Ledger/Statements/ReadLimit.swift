import Database
import Purchases

/// How much of a table one look-up reads: all that is signed, and of what nobody signed as much as a customer may well have.
///
/// Whoever has an app's shared secret can claim any number of things below somebody's originalTransactionId. What is left
/// out follows from the rows of the table alone, never from when they came: after a rebuild the same is left out.
struct ReadLimit {
  /// Rows of one kind below the ids of one piece.
  static let mostSigned = 25_000
  /// Rows of one kind and source that nobody signed.
  static let mostClaimed = 10_000

  static func tooLarge(_ limit: Int) -> DatabaseError {
    DatabaseError(.tooLarge, "the id leads to more than \(limit) purchases")
  }

  /// Signed rows; more are `tooLarge`.
  var signed = Self.mostSigned
  /// Rows of each source that nobody signed; of more those with the last keys are read.
  var claimed = Self.mostClaimed
  /// Whether anything was left out.
  private(set) var isCut = false

  /// Returns the rows of a table: all in key order if they are few, else the signed ones and then the claims of each source.
  ///
  /// - Parameter read: reads at most `limit` of the rows that `further` narrows down, the last ones first if it is backward.
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

  /// Returns the claims that `read` finds, in key order; those with the last keys if there are too many.
  mutating func claims<Item>(
    _ read: (_ isBackward: Bool, _ limit: Int) throws(DatabaseError) -> [Item]
  ) throws(DatabaseError) -> [Item] {
    let claims = try read(true, claimed + 1)
    if claims.count > claimed { isCut = true }
    return claims.prefix(claimed).reversed()
  }
}
