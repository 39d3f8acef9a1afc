extension MappingTable {
  /// The table with one cell changed, as a file; nil if there is no such row.
  func edited(_ row: String, _ column: String, _ value: String) throws -> [UInt8]? {
    let embedded = embedded
    var text = embedded.columns.joined(separator: "\t") + "\n"
    var isFound = false
    for line in embedded.rows {
      let isMeant = "\(line["place"]) \(line["key"])" == row
      isFound = isFound || isMeant
      text += embedded.columns.map { isMeant && $0 == column ? value : line[$0] }.joined(separator: "\t") + "\n"
    }
    return isFound ? Array(text.utf8) : nil
  }
}

extension AnswerComposers {
  /// With a fault that costs access: every period of `latest_receipt_info` ends when it was bought.
  static let expiringAtPurchase = AnswerComposers { readings in
    guard
      let fields = try? MappingTable.answerFields.edited("latest expires_date", "field", "purchaseDate").flatMap({
        try ResponseFieldTable($0)
      })
    else { return nil }
    return try? ComposerRules(fields: fields, rules: Vocabulary.embedded.answerRules, choosing: readings)
  }
}
