import JSON
package import LegacyAnswers
package import Mappings
import Purchases
import Receipts
import Time
import Wire

/// Compares our answer with Apple's: every difference with its cause, and what it would cost the customer.
///
/// Pure. The causes and their order are rows of `difference-causes.tsv`.
package struct ResponseComparator: Sendable {
  private let composer: ResponseComposer
  private let fidelity: Fidelity
  private let table: DifferenceTable

  /// - Parameter composer: the one that made ours.
  package init(_ composer: ResponseComposer, table: DifferenceTable = Vocabulary.embedded.differences) {
    self.composer = composer
    fidelity = Fidelity(composer)
    self.table = table
  }

  /// - Parameter goneLater: keys of differences that were gone when they were looked at again.
  package func compare(_ pair: ResponsePair, goneLater: Set<String> = []) -> ComparisonResult {
    let fields = FieldDifference.all(theirs: pair.theirs, ours: pair.ours)
    guard !fields.isEmpty else { return ComparisonResult(differences: [], impact: nil) }
    let impact = AccessImpact(theirs: pair.theirs, ours: pair.ours, facts: pair.facts, at: pair.request.date)
    let evidence = DifferenceContext(pair, defects: defects(in: pair), goneLater: goneLater) {
      mended(in: pair, Set(fields.map(\.key)))
    }
    var differences = fields.map { field in
      let row = table.rows.first { evidence.holds($0, of: field) } ?? table.rows[table.rows.count - 1]
      return ComparisonResult.Difference(
        field: field, row: row.id, cause: row.cause, hasImpact: impact.map { evidence.decides(field, $0) } ?? false)
    }
    // Whatever it is that access depends on, it is in one of the fields that differ.
    if impact != nil, !differences.contains(where: \.hasImpact) {
      differences = differences.map {
        ComparisonResult.Difference(field: $0.field, row: $0.row, cause: $0.cause, hasImpact: true)
      }
    }
    return ComparisonResult(differences: differences, impact: impact)
  }

  /// Rows of facts beyond which no other reading is tried: there are a dozen of them.
  private static let mostTried = 2_000

  /// What is as Apple's with another reading of a rule that is not proven.
  private func mended(in pair: ResponsePair, _ keys: Set<String>) -> Set<String> {
    guard pair.facts.transactions.count <= Self.mostTried, pair.ours["receipt"] != nil else { return [] }
    let (rules, table) = (composer.rules, composer.rules.rules)
    var mended: Set<String> = []
    for row in table.rows where row.standing == .open && rules.row(row.rule, at: pair.request.date).id != row.id {
      let others = rules.chosen.values.filter { $0.rule != row.rule }.map(\.id)
      guard let other = try? ComposerRules(fields: rules.fields, rules: table, choosing: others + [row.id]) else {
        continue
      }
      let again = pair.recomposed(by: ResponseComposer(other))
      mended.formUnion(keys.subtracting(FieldDifference.all(theirs: pair.theirs, ours: again.ours).map(\.key)))
    }
    return mended
  }

  /// What differs although it is composed from Apple's own facts.
  private func defects(in pair: ResponsePair) -> Set<String> {
    let (request, isFlat) = (pair.request, VerifyReceiptResponse(pair.theirs).isFlat)
    let report = try? fidelity.report(
      receipt: request.receipt, receiptData: request.receiptData, answer: pair.theirs,
      date: isFlat ? request.date : nil, naming: .original)
    return Set((report?.different ?? []).map(\.key))
  }
}
