package import Database

package enum KnownOriginals {
  /// Counts the originalTransactionIds with a purchase in one environment.
  ///
  /// A customer has one or more.
  package static func count(in scope: AppScope, _ session: borrowing Session) throws(DatabaseError) -> Int {
    try session.query(
      """
      SELECT COUNT(*) AS ids FROM (SELECT DISTINCT original_transaction_id FROM purchases WHERE \(in: scope)) AS known
      """
    ).first?.int("ids") ?? 0
  }
}
