import Database

extension SQL {
  /// The sequences as a table named `listed` with one column `sequence`, to look each of them up in an index by a join.
  ///
  /// `sequence IN (…)` reads too much where an index is not unique: MySQL estimates such a range from its statistics when the
  /// index is forced or the list is long, and scans the whole index of a table that was filled before it had any. A join has
  /// no such choice: `FROM listed STRAIGHT_JOIN t FORCE INDEX (i) ON t.sequence = listed.sequence` is one look-up for each
  /// sequence on every server. One statement, however many sequences there are.
  ///
  /// A second index in the hint, `FORCE INDEX (by_sequence, PRIMARY)`, has MySQL look into the index before it decides, but only
  /// up to `eq_range_index_dive_limit` values (200, unless an operator changed it): with 300 it scanned again. An index
  /// that is unique only as a whole, `(sequence, customer)`, was scanned for 32.
  static func listed(_ sequences: [Int64]) -> SQL {
    let json = "[" + sequences.map(String.init).joined(separator: ",") + "]"
    // Inside of a derived table: MySQL refuses FOR UPDATE beside a JSON_TABLE (error 3569).
    return "(SELECT j.sequence FROM JSON_TABLE(\(json), '$[*]' COLUMNS (sequence BIGINT UNSIGNED PATH '$')) j) listed"
  }

  /// The customers' labels as a table named `listed` with one column `customer`, for the same reason.
  ///
  /// A DELETE with `customer IN (…)` scanned the whole table on MySQL, where a SELECT with the same condition did not.
  static func listed(customers: [String]) -> SQL {
    // In hexadecimal, so that nothing has to be escaped and the bytes are compared as they are.
    let digits = customers.map { customer in
      customer.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
    let json = "[" + digits.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    return """
      (SELECT UNHEX(j.hex) AS customer FROM JSON_TABLE(\(json), '$[*]' COLUMNS (hex VARCHAR(130) PATH '$')) j) listed
      """
  }
}
