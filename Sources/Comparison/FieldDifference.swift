package import JSON
import LegacyAnswers
import Mappings

/// A field, or a whole row, that two answers do not have alike.
package struct FieldDifference: Hashable, Sendable {
  /// As `FlattenedResponse` calls it: rows by what identifies them.
  package let key: String
  /// For people: in Apple's answer, else in ours.
  package let path: String
  /// Nil where Apple's answer does not have it; an object for a row.
  package let theirs: JSONValue?
  /// Nil where ours does not have it.
  package let ours: JSONValue?

  /// Every difference of two answers, but for what is made anew for each: the request's date and Apple's copy of the receipt.
  ///
  /// A row that one side lacks is one difference; rows that both have must stand in the same order, which is one more.
  package static func all(theirs: JSONObject, ours: JSONObject) -> [FieldDifference] {
    // Most answers are alike, in the order of their members too.
    guard compared(theirs) != compared(ours) else { return [] }
    let (left, right) = (FlattenedResponse(theirs, naming: .original), FlattenedResponse(ours, naming: .original))
    let own = Dictionary(right.leaves.map { ($0.key, $0.value) }) { first, _ in first }
    var (leftRows, rightRows) = (Rows(left), Rows(right))
    var found: [FieldDifference] = []
    var (seen, told): (Set<String>, Set<String>) = ([], [])
    for leaf in left.leaves where !isMadeAnew(leaf.key) {
      seen.insert(leaf.key)
      guard own[leaf.key] != leaf.value else { continue }
      if let row = row(of: leaf.key), !rightRows.keys.contains(row) {
        if told.insert(row).inserted {
          let path = row == leaf.key ? leaf.path : rowPath(leaf.path)
          found.append(Self(key: row, path: path, theirs: leftRows.values[row], ours: nil))
        }
      } else {
        found.append(Self(key: leaf.key, path: leaf.path, theirs: leaf.value, ours: own[leaf.key]))
      }
    }
    for leaf in right.leaves where !isMadeAnew(leaf.key) && !seen.contains(leaf.key) {
      if let row = row(of: leaf.key), !leftRows.keys.contains(row) {
        if told.insert(row).inserted {
          found.append(Self(key: row, path: rowPath(leaf.path), theirs: nil, ours: rightRows.values[row]))
        }
      } else {
        found.append(Self(key: leaf.key, path: leaf.path, theirs: nil, ours: leaf.value))
      }
    }
    return found + order(left, right)
  }

  /// The members that are compared: without the request's date and Apple's copy of the receipt, which differ in every answer.
  private static func compared(_ answer: JSONObject) -> [JSONObject.Member] {
    answer.members.compactMap { member in
      switch member.value {
      case .object(let receipt) where member.key == "receipt":
        let members = receipt.members.filter { !isMadeAnew("receipt.\($0.key)") }
        return JSONObject.Member(key: member.key, value: .object(JSONObject(uniqueMembers: members)))
      case .object, .array: return member
      case .null, .bool, .integer, .number, .string: return isMadeAnew(member.key) ? nil : member
      }
    }
  }

  private static func order(_ left: FlattenedResponse, _ right: FlattenedResponse) -> [FieldDifference] {
    let both = Set(left.latest).intersection(right.latest)
    let (theirs, ours) = (left.latest.filter(both.contains), right.latest.filter(both.contains))
    guard theirs != ours else { return [] }
    return [
      Self(
        key: orderKey, path: orderKey, theirs: .array(theirs.map(JSONValue.string)),
        ours: .array(ours.map(JSONValue.string)))
    ]
  }

  static let orderKey = "latest_receipt_info"

  /// Whether the difference is one of the order of rows.
  var isOrder: Bool { key == Self.orderKey && theirs?.array != nil && ours?.array != nil }

  /// The rows of an answer, by their keys.
  private struct Rows {
    let keys: Set<String>
    private let leaves: FlattenedResponse
    /// Gathered where a row is missing in the other answer alone.
    lazy var values: [String: JSONValue] = {
      var members: [String: [(String, JSONValue)]] = [:]
      for leaf in leaves.leaves {
        guard let row = FieldDifference.row(of: leaf.key) else { continue }
        let name = leaf.key.utf8.dropFirst(row.utf8.count + 1)
        members[row, default: []].append((String(Substring(name)), leaf.value))
      }
      return members.mapValues { .object(JSONObject($0)) }
    }()

    init(_ leaves: FlattenedResponse) {
      self.leaves = leaves
      keys = Set(leaves.leaves.compactMap { FieldDifference.row(of: $0.key) })
    }
  }

  /// The key of the row that a key is in; nil where it is in none.
  static func row(of key: String) -> String? {
    // By bytes: by characters this took a quarter of a comparison.
    key.utf8.firstIndex(of: UInt8(ascii: "]")).map { String(key[...$0]) }
  }

  private static func rowPath(_ path: String) -> String { row(of: path) ?? path }

  private static func isMadeAnew(_ key: String) -> Bool {
    key == "latest_receipt" || key.hasPrefix("receipt.request_date") || key == "latest_expired_receipt"
  }

  /// Whether it is a whole row that one side lacks.
  var isRow: Bool { key.hasSuffix("]") }

  /// The row's own fields, where it is one.
  var rowObject: JSONObject? { isRow ? (theirs ?? ours)?.object : nil }

  /// The field's name without the ending that tells one form of a date from another.
  var name: String {
    guard !isRow else { return "" }
    var name = key.split(separator: ".").last.map(String.init) ?? key
    for ending in ["_formatted_pst", "_formatted", "_pst", "_ms"] where name.hasSuffix(ending) {
      name.removeLast(ending.count)
      break
    }
    return name
  }

  var place: DifferenceTable.Section {
    if key.hasPrefix("latest_receipt_info[") || key == Self.orderKey { return .latest }
    if key.hasPrefix("pending_renewal_info") { return .pending }
    if key.hasPrefix("receipt.in_app") { return .inApp }
    if key.hasPrefix("receipt.") || key == "receipt" { return .receipt }
    let flat = [
      "latest_receipt_info.", "latest_expired_receipt_info", "auto_renew_status", "auto_renew_product_id",
      "expiration_intent", "is_in_billing_retry_period",
    ]
    return flat.contains { key.hasPrefix($0) } ? .flat : .answer
  }
}
