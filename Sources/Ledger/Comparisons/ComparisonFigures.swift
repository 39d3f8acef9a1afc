package import Database
import Purchases
package import Time

/// How an app's answers compared with Apple's in a span of time.
///
/// Counted by customer: somebody who sends many receipts has no more weight than somebody who sends one.
package struct ComparisonFigures: Hashable, Sendable {
  /// Customers who were compared, those of `incomplete` left out.
  package let customers: Int
  /// Customers for whom an impact counts.
  package let affected: Int
  /// Customers whose every comparison differed because their history is not known: nothing was shown of them.
  package let incomplete: Int
  /// Comparisons by cause, `equal` among them.
  package let causes: [String: Int]

  package var comparisons: Int { causes.values.reduce(0, +) }

  package init(customers: Int, affected: Int, incomplete: Int, causes: [String: Int]) {
    self.customers = customers
    self.affected = affected
    self.incomplete = incomplete
    self.causes = causes
  }

  /// - Parameter instant: comparisons of before do not count.
  package static func read(
    _ scope: Scope, since instant: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) -> ComparisonFigures {
    let among: SQL = """
      FROM comparisons WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)
      AND compared_at >= \(instant)
      """
    let counted = try session.query(
      """
      SELECT COUNT(DISTINCT customer) AS everybody, COUNT(DISTINCT IF(counts = 1, customer, NULL)) AS affected,
        COUNT(DISTINCT IF(counts = 1 OR cause <> \(ComparisonTable.incomplete), customer, NULL)) AS customers
      """ + " " + among
    ).first
    let customers = try counted?.int("customers") ?? 0
    var causes: [String: Int] = [:]
    for row in try session.query("SELECT cause, COUNT(*) AS times " + among + " GROUP BY cause") {
      causes[try row.text("cause")] = try row.int("times")
    }
    return ComparisonFigures(
      customers: customers, affected: try counted?.int("affected") ?? 0,
      incomplete: (try counted?.int("everybody") ?? 0) - customers, causes: causes)
  }
}
