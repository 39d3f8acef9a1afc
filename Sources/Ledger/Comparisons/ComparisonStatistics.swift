package import Database
import Purchases
package import Time

/// The comparison of an app's responses with Apple's in a period, counted by customer.
package struct ComparisonStatistics: Hashable, Sendable {
  /// Compared customers, those of `incomplete` excluded.
  package let customers: Int
  package let affected: Int
  /// Customers whose every comparison differed because their history is unknown: no result is known for them.
  package let incomplete: Int
  /// Customers with different access because their history is unknown.
  ///
  /// Apple is asked then, so this is not an impact.
  package let incompleteAffected: Int
  /// Comparisons by cause, `equal` included.
  package let causes: [String: Int]

  package var comparisons: Int { causes.values.reduce(0, +) }
  package var differing: Int { comparisons - causes[ComparisonTable.equal, default: 0] }

  package init(
    customers: Int, affected: Int, incomplete: Int, incompleteAffected: Int = 0, causes: [String: Int]
  ) {
    self.customers = customers
    self.affected = affected
    self.incomplete = incomplete
    self.incompleteAffected = incompleteAffected
    self.causes = causes
  }

  /// - Parameter instant: comparisons before it do not count.
  package static func read(
    _ scope: AppScope, since instant: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> ComparisonStatistics {
    let among: SQL = "FROM comparisons WHERE \(in: scope) AND compared_at >= \(instant)"
    let counted = try session.query(
      """
      SELECT COUNT(DISTINCT customer) AS everybody, COUNT(DISTINCT IF(counts = 1, customer, NULL)) AS affected,
        COUNT(DISTINCT IF(counts = 1 OR cause <> \(ComparisonTable.incomplete), customer, NULL)) AS customers,
        COUNT(DISTINCT IF(counts = 0 AND cause = \(ComparisonTable.incomplete) AND impact IS NOT NULL, customer, NULL))
          AS incomplete_affected
      """ + " " + among
    ).first
    let customers = try counted?.int("customers") ?? 0
    var causes: [String: Int] = [:]
    for row in try session.query("SELECT cause, COUNT(*) AS times " + among + " GROUP BY cause") {
      causes[try row.text("cause")] = try row.int("times")
    }
    return ComparisonStatistics(
      customers: customers, affected: try counted?.int("affected") ?? 0,
      incomplete: (try counted?.int("everybody") ?? 0) - customers,
      incompleteAffected: try counted?.int("incomplete_affected") ?? 0, causes: causes)
  }
}
