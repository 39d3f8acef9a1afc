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

  /// The ids as a table named `listed` with one column `wanted`, each once, for the same reason.
  ///
  /// `id IN (…)` behind columns that are equal for all rows is worse: MariaDB reads all that have those columns in common where
  /// it believes that the table is empty, as after a restart before it has counted again. A DELETE with `customer IN (…)`
  /// scanned the whole table on MySQL, where a SELECT with the same condition did not.
  static func listed(_ ids: [String]) -> SQL { listed(ids.map { Array($0.utf8) }) }

  /// The same of bytes, as digests are.
  static func listed(_ values: [[UInt8]]) -> SQL {
    // In hexadecimal, so that nothing has to be escaped and the bytes are compared as they are.
    var seen: Set<[UInt8]> = []
    // MariaDB cuts what is longer than the column, and would find whatever begins like it: no id of ours is that long.
    let digits = values.filter { $0.count <= longestListed && seen.insert($0).inserted }.map { value in
      value.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
    let json = "[" + digits.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    return """
      (SELECT UNHEX(j.hex) AS wanted FROM JSON_TABLE(\(json), '$[*]' COLUMNS (hex VARCHAR(256) PATH '$')) j) listed
      """
  }

  /// Bytes; no id of Apple's and no digest is longer; user ids are never looked up by a list.
  private static let longestListed = 128
}
