import Database

extension SQL {
  /// `LIMIT n`, or nothing.
  static func limit(_ rows: Int?) -> SQL {
    guard let rows else { return "" }
    return "LIMIT \(rows)"
  }
}
