package import JSON

/// The values of an answer by their paths, rows by what identifies them.
///
/// A row of `latest_receipt_info` is named by its line, else its transaction_id; an element of `pending_renewal_info`
/// by its original_transaction_id; a row of `in_app` by its position, because the receipt decides it.
package struct FlattenedResponse {
  /// What names a row of `latest_receipt_info` that has no line.
  package enum RowName: Sendable {
    /// Its transaction_id, which is another one after a restore.
    case transaction
    /// Its original_transaction_id.
    case original
  }

  /// A path for people, and one by which two answers are compared.
  package private(set) var leaves: [(key: String, path: String, value: JSONValue)] = []
  /// The keys of rows of `latest_receipt_info`, in their order.
  package private(set) var latest: [String] = []
  private let rowName: RowName

  package init(_ answer: JSONObject, naming rowName: RowName = .transaction) {
    self.rowName = rowName
    for member in answer { add(member.value, key: member.key, path: member.key) }
  }

  private mutating func add(_ value: JSONValue, key: String, path: String) {
    switch value {
    case .object(let object):
      if object.isEmpty { return leaves.append((key, path, value)) }
      for member in object { add(member.value, key: "\(key).\(member.key)", path: "\(path).\(member.key)") }
    case .array(let elements):
      if elements.isEmpty { return leaves.append((key, path, value)) }
      var seen: Set<String> = []
      for (place, element) in elements.enumerated() {
        var name = name(of: element.object, in: key) ?? "\(place)"
        if !seen.insert(name).inserted { name += "#\(place)" }
        if key == "latest_receipt_info" { latest.append("\(key)[\(name)]") }
        add(element, key: "\(key)[\(name)]", path: "\(path)[\(place)]")
      }
    case .null, .bool, .integer, .number, .string: leaves.append((key, path, value))
    }
  }

  private func name(of row: JSONObject?, in array: String) -> String? {
    guard let row else { return nil }
    switch array {
    case "latest_receipt_info":
      if let line = row["web_order_line_item_id"]?.string { return "line \(line)" }
      switch rowName {
      case .transaction: return row["transaction_id"]?.string
      case .original: return (row["original_transaction_id"] ?? row["transaction_id"])?.string
      }
    case "pending_renewal_info":
      return (row["original_transaction_id"] ?? row["product_id"])?.string
    default: return nil
    }
  }
}
