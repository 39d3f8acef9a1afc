import Database

extension SQL {
  /// `LIMIT n`, or empty.
  static func limit(_ rows: Int?) -> SQL {
    guard let rows else { return "" }
    return "LIMIT \(rows)"
  }
}
