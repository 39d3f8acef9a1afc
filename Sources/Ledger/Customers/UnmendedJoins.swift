package import Database
import Purchases

/// `unmended_joins`: whether customers are still joined by what only unsigned messages said to an older binary.
package enum UnmendedJoins {
  /// Returns how many links between purchases nothing that is proven seems to make; nil once a rebuild has mended them.
  ///
  /// An upper bound: the message that proved a link may have been replaced by a later one of the same source.
  package static func count(in session: borrowing Session) throws(DatabaseError) -> Int? {
    guard try !session.query("SELECT 1 FROM unmended_joins LIMIT 1").isEmpty else { return nil }
    let fetched = [InboxMessage.Kind.verifyReceiptAnswer, .apiAnswer].map(\.rawValue)
    return try session.query(
      """
      SELECT COUNT(*) AS doubtful FROM links l
      WHERE l.a LIKE 'o%' AND l.b LIKE 'o%' AND NOT EXISTS (
        SELECT 1 FROM purchases p
        JOIN purchases q ON q.app = p.app AND q.environment = p.environment
          AND q.original_transaction_id = SUBSTRING(l.b, 2) AND q.message = p.message
        JOIN inbox i ON i.digest = p.message
        WHERE p.app = l.app AND p.environment = l.environment AND p.original_transaction_id = SUBSTRING(l.a, 2)
        AND (i.kind IN (\(list: fetched))
          OR p.source = \(Source.verifiedReceipt.rawValue) AND q.source = \(Source.verifiedReceipt.rawValue)))
      """
    ).first?.int("doubtful") ?? 0
  }

  /// Notes that a rebuild has mended them.
  static func forget(in session: borrowing Session) throws(DatabaseError) {
    _ = try session.execute("DELETE FROM unmended_joins")
  }
}
