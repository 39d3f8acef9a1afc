import Database

extension SQL {
  /// Returns the sequences as a table named `listed` with one column `sequence`, for a join that looks up each in an
  /// index.
  ///
  /// `sequence IN (…)` reads too many rows if an index is not unique: MySQL estimates such a range from its statistics
  /// if the index is forced or the list is long. It scans the whole index of a table that was filled before it had
  /// statistics. A join has no such choice: `FROM listed STRAIGHT_JOIN t FORCE INDEX (i) ON t.sequence =
  /// listed.sequence` is one lookup for each sequence on every server.
  ///
  /// With a second index in the hint, MySQL dives into the index first, but only up to `eq_range_index_dive_limit`
  /// values (default 200): with 300 it scanned again. An index that is unique only as a whole, `(sequence, customer)`,
  /// was scanned for 32.
  static func listed(_ sequences: [Int64]) -> SQL {
    let json = "[" + sequences.map(String.init).joined(separator: ",") + "]"
    // In a derived table: MySQL refuses FOR UPDATE with a JSON_TABLE (error 3569).
    return "(SELECT j.sequence FROM JSON_TABLE(\(json), '$[*]' COLUMNS (sequence BIGINT UNSIGNED PATH '$')) j) listed"
  }

  /// Returns the IDs as a table named `listed` with one column `wanted`, each once, for the same reason.
  ///
  /// `id IN (…)` behind columns that are equal for all rows is worse. MariaDB reads all rows with those columns if it
  /// believes that the table is empty, as after a restart before it has counted again. On MySQL a DELETE with `customer
  /// IN (…)` scanned the whole table, but a SELECT with the same condition did not.
  static func listed(_ ids: [String]) -> SQL { listed(ids.map { Array($0.utf8) }) }

  /// Returns the bytes, for example digests, as such a table.
  static func listed(_ values: [[UInt8]]) -> SQL {
    // Hexadecimal, which needs no escaping and compares bytes exactly.
    var seen: Set<[UInt8]> = []
    // MariaDB truncates values longer than the column, and would find every value with that prefix. No stored ID is
    // that long.
    let digits = values.filter { $0.count <= longestListed && seen.insert($0).inserted }.map { value in
      value.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
    let json = "[" + digits.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    return """
      (SELECT UNHEX(j.hex) AS wanted FROM JSON_TABLE(\(json), '$[*]' COLUMNS (hex VARCHAR(256) PATH '$')) j) listed
      """
  }

  /// The maximum bytes.
  ///
  /// No Apple ID and no digest is longer, and user IDs are never looked up by a list.
  private static let longestListed = 128
}
