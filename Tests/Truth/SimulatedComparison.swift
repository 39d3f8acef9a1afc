package import JSON

/// Holds our answers against the simulator's, field by field; knows nothing of the rules that ours are composed by.
package struct SimulatedComparison {
  package init() {}

  /// Fields that were equal, by their paths without positions.
  package private(set) var equal: [String: Int] = [:]
  /// The same with iOS 6 answers by themselves.
  package private(set) var equalByGeneration: [String: Int] = [:]
  /// The values of each field, at most two.
  package private(set) var values: [String: Set<JSONValue>] = [:]
  /// Equal fields in cases of each situation.
  package private(set) var bySituation: [String: [SimulatedCase.Situation: Int]] = [:]
  /// Ids that a restore changed, rows of consumables, and `latest_receipt`.
  package private(set) var unavailable = 0
  package private(set) var echoed = 0
  package private(set) var cases = 0
  package private(set) var situations: [SimulatedCase.Situation: Int] = [:]
  /// The first differences, at most twenty.
  package private(set) var different: [String] = []
  package private(set) var differences = 0
  /// Differences by their fields, without positions.
  package private(set) var differing: [String: Int] = [:]

  package mutating func add(_ sample: SimulatedCase, answered bytes: [UInt8]) throws {
    cases += 1
    for situation in sample.situations { situations[situation, default: 0] += 1 }
    var limits = JSONLimits.standard
    limits.bytes = 16 << 20
    guard let ours = try JSONReader.read(bytes, limits: limits).object else { return }
    var (left, right) = (Leaves(sample.answer), Leaves(ours))
    let gaps = left.rows.keys.filter { right.rows[$0] == nil } + right.rows.keys.filter { left.rows[$0] == nil }
    for row in gaps where sample.consumables.contains(row) {
      unavailable += 1
      left.remove(row)
      right.remove(row)
    }
    if left.order != right.order, sample.restored.isEmpty {
      differ("order of latest_receipt_info: \(left.order) / \(right.order)")
    }
    for (key, value) in left.values {
      let own = right.values.removeValue(forKey: key)
      if key.field == "latest_receipt", own != nil {
        echoed += 1
      } else if own == value {
        equal[key.field, default: 0] += 1
        let name = sample.situations.contains(.transactionReceipt) ? "iOS 6 \(key.field)" : key.field
        equalByGeneration[name, default: 0] += 1
        for situation in sample.situations { bySituation[name, default: [:]][situation, default: 0] += 1 }
        if values[key.field, default: []].count < 2 { values[key.field, default: []].insert(value) }
      } else if isRestored(key, sample, left) || isItemOfAnother(key, sample.answer) {
        unavailable += 1
      } else {
        differing[key.field, default: 0] += 1
        differ("\(key.path): \(text(value)) / \(own.map(text) ?? "-") \(sample.situations.map(\.rawValue).sorted())")
      }
    }
    for (key, value) in right.values {
      differing[key.field, default: 0] += 1
      differ("\(key.path): - / \(text(value)) \(sample.situations.map(\.rawValue).sorted())")
    }
  }

  private func text(_ value: JSONValue) -> String { String(decoding: value.encoded(), as: UTF8.self) }

  private mutating func differ(_ what: String) {
    differences += 1
    if different.count < 20 { different.append(what) }
  }

  /// The item id of another product than the one whose iOS 6 receipt was sent.
  private func isItemOfAnother(_ key: Leaves.Key, _ answer: JSONObject) -> Bool {
    guard key.field.hasSuffix("_info.item_id") else { return false }
    let latest = answer["latest_receipt_info"]?.object ?? answer["latest_expired_receipt_info"]?.object
    return latest?["product_id"] != answer["receipt"]?.object?["product_id"]
  }

  private func isRestored(_ key: Leaves.Key, _ sample: SimulatedCase, _ left: Leaves) -> Bool {
    guard let row = key.row, sample.restored.contains(row) else { return false }
    let name = key.field.split(separator: ".").last ?? ""
    return name == "transaction_id" || name.hasPrefix("original_purchase_date")
  }
}

/// The values of an answer by where they stand; rows of latest objects by their line, else original_transaction_id, as
/// renewals are.
private struct Leaves {
  struct Key: Hashable {
    /// With positions.
    let path: String
    /// Without.
    let field: String
    let row: String?
  }

  var values: [Key: JSONValue] = [:]
  /// Rows of `latest_receipt_info`.
  private(set) var rows: [String: [Key]] = [:]
  private(set) var order: [String] = []

  init(_ answer: JSONObject) { add(.object(answer), path: "", field: "", row: nil) }

  mutating func remove(_ row: String) {
    guard let keys = rows.removeValue(forKey: row) else { return }
    for key in keys { values[key] = nil }
    guard order.contains(row) else { return }
    order.removeAll { $0 == row }
    // A list of which every row was left out counts as one without rows.
    let list = "latest_receipt_info"
    if order.isEmpty { values[Key(path: list, field: list, row: nil)] = .array([]) }
  }

  private mutating func add(_ value: JSONValue, path: String, field: String, row: String?) {
    switch value {
    case .object(let object):
      let isLatest = field == "latest_receipt_info" || field == "latest_expired_receipt_info"
      let row = isLatest ? Self.name(object) : row
      for member in object {
        let dot = path.isEmpty ? "" : "."
        add(member.value, path: path + dot + member.key, field: field + dot + member.key, row: row)
      }
    case .array(let elements):
      if elements.isEmpty { note(value, path, field, row) }
      for (place, element) in elements.enumerated() {
        var name = "\(place)"
        if field == "latest_receipt_info", let object = element.object {
          name = Self.name(object)
          order.append(name)
        }
        // In which order Apple has them is not known; there is one of each subscription.
        if field == "pending_renewal_info", let id = element.object?["original_transaction_id"]?.string { name = id }
        add(element, path: "\(path)[\(name)]", field: field, row: row)
      }
    default: note(value, path, field, row)
    }
  }

  private mutating func note(_ value: JSONValue, _ path: String, _ field: String, _ row: String?) {
    let key = Key(path: path, field: field, row: row)
    values[key] = value
    if let row { rows[row, default: []].append(key) }
  }

  private static func name(_ object: JSONObject) -> String {
    (object["web_order_line_item_id"] ?? object["original_transaction_id"])?.string ?? ""
  }
}
