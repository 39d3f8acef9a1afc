/// Why our answer differs from Apple's: `difference-causes.tsv`, in the order in which the causes are tested.
package struct DifferenceTable: Sendable {
  /// The reason for a difference; the names are labels of a metric.
  package enum Cause: String, Hashable, Sendable, CaseIterable {
    case ourDefect, timing, incomplete, legacyQuirk, omission, environment, secret, linking, consumable, unknown
  }

  /// What is asked about a difference.
  package enum Test: String, Sendable, CaseIterable {
    /// Composed from the facts that Apple's own answer implies, our answer differs there too.
    case recomposed
    /// The difference is gone when it is looked at again.
    case goneLater
    /// Something that we know about the row was signed after Apple's answer was made.
    case datedAfter
    /// What is known of the customer may not be all there is.
    case notFresh
    /// Our answer is a status alone, and what is known may not be all there is.
    case unanswered
    /// The rows that both have stand in another order.
    case rowOrder
    /// Both have the row.
    case sameRow
    /// The dates differ by less than a second.
    case belowSecond
    /// The row is one that an upgrade replaced.
    case upgradedRow
    /// With another reading of a rule that is not proven, ours has what Apple's has.
    case otherReading
    /// The request excludes old transactions, and both have a newer row of the same subscription.
    case excludeOldRow
    /// Of the sandbox: a row that only we have, older than all rows of Apple's of the same subscription.
    case truncatedRow
    /// Nothing that V2 signs tells the field.
    case untellable
    /// A row of a free subscription.
    case freeSubscriptionRow
    /// One of the statuses is 21007 or 21008.
    case environmentStatus
    /// One of the statuses is 21004.
    case secretStatus
    /// One side has an original_transaction_id that the customer's history does not hold.
    case foreignOriginal
    /// A row of a consumable that one side alone has.
    case consumableRow
    case anything
  }

  /// Which part of an answer a field is in.
  package enum Section: String, Sendable, CaseIterable {
    case latest, pending, inApp, receipt, flat, answer
  }

  package struct Row: Sendable {
    package let id: String
    package let cause: Cause
    package let test: Test
    /// Nil: any.
    package let place: Section?
    /// Nil: any.
    package let key: String?
    package let evidence: String
  }

  package let rows: [Row]

  static let columns = ["id", "cause", "test", "place", "key", "evidence"]

  package init(_ bytes: [UInt8]) throws(Table.Malformed) {
    let table = try Table(bytes, columns: Self.columns)
    var rows: [Row] = []
    for row in table.rows {
      guard let cause = Cause(rawValue: row["cause"]) else { throw .unknownWord(row: row.id, column: "cause") }
      guard let test = Test(rawValue: row["test"]) else { throw .unknownWord(row: row.id, column: "test") }
      let place = Section(rawValue: row["place"])
      guard place != nil || row["place"] == "-" else { throw .unknownWord(row: row.id, column: "place") }
      let key = row["key"] == "-" ? nil : row["key"]
      guard !rows.contains(where: { $0.test == test && $0.place == place && $0.key == key }) else {
        throw .repeatedRow(row.id)
      }
      rows.append(
        Row(id: row.id, cause: cause, test: test, place: place, key: key, evidence: row["evidence"]))
    }
    for cause in Cause.allCases where !rows.contains(where: { $0.cause == cause }) { throw .missingRow(cause.rawValue) }
    guard let last = rows.last, last.test == .anything, last.place == nil, last.key == nil else {
      throw .missingRow(Test.anything.rawValue)
    }
    self.rows = rows
  }
}
