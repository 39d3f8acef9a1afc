package import Database

/// How much is known of an app.
package enum KnownOriginals {
  /// Counts the originalTransactionIds below which a purchase is known, in one environment: a customer has one or more.
  package static func count(in scope: AppScope, _ session: borrowing Session) throws(DatabaseError) -> Int {
    try session.query(
      """
      SELECT COUNT(*) AS ids FROM (SELECT DISTINCT original_transaction_id FROM purchases WHERE \(in: scope)) AS known
      """
    ).first?.int("ids") ?? 0
  }
}
