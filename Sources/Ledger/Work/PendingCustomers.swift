import Database
import Purchases
import Time

/// Waiting rows, by their presently known customers.
struct PendingCustomers {
  var groups: [String: [HistoryJob]] = [:]
  /// The originalTransactionIds of each row's ID.
  ///
  /// An unknown ID represents itself.
  private var originals: [Int64: Set<String>] = [:]

  init(of rows: [HistoryJob], in scope: AppScope, _ session: borrowing Session) throws(DatabaseError) {
    let known = try Self.originals(of: rows.map(\.subject), in: scope, session)
    let labels: [String: String]
    let nodes = Set(rows.flatMap { Array(known[$0.subject] ?? [$0.subject]) })
      .map { CustomerNode.originalTransactionID($0).text }.sorted()
    labels = try CustomerMembers.labels(ofNodes: nodes, in: scope, session)
    for row in rows {
      let ids = known[row.subject] ?? [row.subject]
      originals[row.id] = ids
      guard let first = ids.min() else { continue }
      let node = CustomerNode.originalTransactionID(first).text
      groups[labels[node] ?? node, default: []].append(row)
    }
  }

  private static func originals(
    of subjects: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: Set<String>] {
    var originals: [String: Set<String>] = [:]
    let kind: SQL = "AND kind = \(Alias.Kind.transactionID.rawValue)"
    try session.read("alias, original_transaction_id", of: .aliases, subjects, in: scope, kind) {
      row throws(DatabaseError) in
      originals[try row.text("alias"), default: []].insert(try row.text("original_transaction_id"))
    }
    return originals
  }

  /// Returns the rows whose every originalTransactionId is in a stored history, except repeated lookups.
  func covered(in scope: AppScope, _ session: borrowing Session) throws(DatabaseError) -> [Int64] {
    let stored = try HistoryTable.stored(Set(originals.values.joined()), in: scope, session)
    guard !stored.isEmpty else { return [] }
    let again = Set(groups.values.joined().filter(\.isAgain).map(\.id))
    return originals.filter { stored.isSuperset(of: $0.value) && !again.contains($0.key) }.map(\.key)
  }

  mutating func remove(_ rows: [Int64]) {
    let gone = Set(rows)
    guard !gone.isEmpty else { return }
    groups = groups.mapValues { $0.filter { !gone.contains($0.id) } }.filter { !$0.value.isEmpty }
  }

  /// Adds the customers' other waiting rows, and drops customers with a leased row.
  ///
  /// Unless a caller waits, it also drops unverified customers with a waiting row of another kind, whose queue looks up
  /// all. Returns the dropped rows.
  mutating func gatherOthers(
    for selection: HistoryJobTable.Selection, at now: Timestamp, _ session: borrowing Session
  ) throws(DatabaseError) -> [Int64] {
    var left: [Int64] = []
    let (scope, isUrgent) = (selection.scope, selection.isUrgent)
    // A purchase without links has no row in `customers`. Any of its IDs can look it up.
    var labels: [String: String] = [:]
    for (label, rows) in groups {
      for id in rows.flatMap({ originals[$0.id] ?? [] }) { labels[id] = label }
    }
    try session.read("node, label", of: .labels, groups.keys, in: scope) { row throws(DatabaseError) in
      guard case .originalTransactionID(let id)? = CustomerNode(text: try row.text("node")) else { return }
      labels[id] = try row.text("label")
    }
    // A set, since a customer may have thousands of rows.
    var gathered = Set(groups.values.joined().map(\.id))
    for ids in labels.keys.sorted().parts() {
      for row in try session.query(
        """
        SELECT id, kind, subject, is_again, unknown_in, due_at,
          owner IS NOT NULL AND due_at > \(now) AND begun >= \(isUrgent ? 1 : 0) AS is_leased
        FROM \(HistoryJobTable.listed(ids, in: scope)) WHERE state = 0 ORDER BY id
        """)
      {
        let found = try HistoryJob(row)
        guard let label = labels[found.subject], groups[label] != nil else { continue }
        let isOfAnother = selection.queue == .unverified && !isUrgent && found.kind != .unverifiedID
        if try row.bool("is_leased") {
          groups[label] = nil
        } else if isOfAnother {
          left += (groups.removeValue(forKey: label) ?? []).map(\.id)
        } else if gathered.insert(found.id).inserted {
          groups[label, default: []].append(found)
        }
      }
    }
    return left
  }
}
