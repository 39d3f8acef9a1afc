package import JSON
package import Mappings

/// What came of comparing two answers.
package struct ComparisonResult: Hashable, Sendable {
  /// A difference with its cause.
  package struct Difference: Hashable, Sendable {
    package let field: FieldDifference
    /// The row of `difference-causes.tsv` that decided.
    package let row: String
    package let cause: DifferenceTable.Cause
    /// Whether the access that differs depends on this field.
    package let hasImpact: Bool
  }

  package let differences: [Difference]
  /// Nil when a client would do the same with either answer.
  package let impact: AccessImpact?

  package var isEqual: Bool { differences.isEmpty }

  /// The cause of the gravest difference; nil when the answers are equal.
  ///
  /// What costs access comes before what does not; then the order of `gravity`.
  package var cause: DifferenceTable.Cause? {
    func first(_ chosen: [Difference]) -> DifferenceTable.Cause? {
      let causes = Set(chosen.map(\.cause))
      return Self.gravity.first(where: causes.contains)
    }
    return first(differences.filter(\.hasImpact)) ?? first(differences)
  }

  /// Whether the impact is one that a customer would have felt, answered by us: the guard and the evidence count it.
  ///
  /// Not what is gone by itself, what Apple's own answers vary in, what we would have left to Apple, and consumables that are
  /// not in the receipt or are finished: a client grants them when they are bought.
  package var countsAgainst: Bool {
    impact != nil && differences.contains { $0.hasImpact && !Self.harmless.contains($0.cause) }
  }

  private static let harmless: Set<DifferenceTable.Cause> = [.timing, .incomplete, .consumable]

  /// The worst first.
  package static let gravity: [DifferenceTable.Cause] = [
    .ourDefect, .unknown, .linking, .consumable, .environment, .secret, .incomplete, .timing, .omission,
    .legacyQuirk,
  ]

  /// One object for each difference, with the promised keys.
  package var json: [JSONObject] {
    differences.map { difference in
      [
        "path": .string(difference.field.path), "cause": .string(difference.cause.rawValue),
        "theirs": difference.field.theirs ?? .null, "ours": difference.field.ours ?? .null,
        "impact": difference.hasImpact ? impact.map { .object($0.json) } ?? .null : .null,
        "rule": .string(difference.row), "key": .string(difference.field.key),
      ]
    }
  }
}
