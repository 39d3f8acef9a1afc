package import Database

extension SQL {
  /// A table with the column `seq` and the rows 1 to `last`, of any server: only MariaDB has its `seq_1_to_…`.
  ///
  /// - Parameter last: up to a million.
  package static func numbers(_ last: Int) -> SQL {
    let digits: SQL = """
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
        UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)
      """
    return """
      (SELECT seq FROM (
        SELECT 1 + a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n + 100000 * f.n AS seq
        FROM \(digits) a JOIN \(digits) b JOIN \(digits) c
          JOIN \(digits) d ON 1000 * d.n < \(digits: Int64(last))
          JOIN \(digits) e ON 10000 * e.n < \(digits: Int64(last))
          JOIN \(digits) f ON 100000 * f.n < \(digits: Int64(last))
      ) million WHERE seq <= \(digits: Int64(last))) numbers
      """
  }
}
