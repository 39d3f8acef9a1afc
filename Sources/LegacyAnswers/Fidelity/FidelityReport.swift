package import JSON
package import Time

/// How faithfully an answer of Apple's can be composed again: every field of either answer in exactly one count.
package struct FidelityReport: Hashable, Sendable {
  /// A field that is other than Apple's, or that one of the two answers lacks.
  package struct Difference: Hashable, Sendable {
    /// As `FlattenedResponse` calls it: rows by what identifies them.
    package let key: String
    package let path: String
    /// Nil where Apple's answer does not have the field.
    package let theirs: JSONValue?
    /// Nil where our answer does not have the field.
    package let ours: JSONValue?
    /// The row of `Mappings` that made our field; "-" for a field that we do not have.
    package let rule: String
  }

  /// Fields of either answer; a row that is unavailable as a whole counts as one.
  package internal(set) var fields = 0
  /// Equal, and taken from the receipt or the request alone.
  package internal(set) var exact = 0
  /// Equal, and made from V2 facts.
  package internal(set) var derived = 0
  /// Given back as it was posted, where Apple signs a new one.
  package internal(set) var echoed = 0
  /// Told by nothing that V2 signs.
  package internal(set) var unavailable = 0
  /// Whole rows among `unavailable`.
  package internal(set) var unavailableRows = 0
  package internal(set) var different: [Difference] = []
  /// How often each row of `Mappings` made an equal field, or said that a field is unavailable.
  package internal(set) var rules: [String: Int] = [:]
  /// The time of the request: stated by the answer, or inferred from an iOS 6 answer, which states none.
  package let requestDate: Timestamp
  /// Whether Apple's answer is one to a request with `exclude-old-transactions`.
  package let excludesOldTransactions: Bool

  /// The promised keys, then what a person asks next.
  package var json: JSONObject {
    [
      "fields": .integer(Int64(fields)), "exact": .integer(Int64(exact)), "derived": .integer(Int64(derived)),
      "echoed": .integer(Int64(echoed)), "unavailable": .integer(Int64(unavailable)),
      "different": .array(
        different.map {
          .object([
            "path": .string($0.path), "theirs": $0.theirs ?? .null, "ours": $0.ours ?? .null, "rule": .string($0.rule),
          ])
        }),
      "unavailableRows": .integer(Int64(unavailableRows)), "requestDate": .integer(requestDate.sinceEpoch),
      "excludeOldTransactions": .bool(excludesOldTransactions),
    ]
  }
}
