import Mappings
package import Purchases

/// A worked example of docs/internals/model.md: what several messages said, and what is true because of it.
///
/// The page explains how it is written. Tests run each one, so that page and code cannot part.
package struct ModelExample: Sendable {
  package struct Malformed: Error, CustomStringConvertible {
    package let description: String
  }

  package static let app = "com.example.model"

  package let name: String
  /// One for each line that says something.
  package let messages: [Findings]
  private let expectations: [[String]]
  /// The look-up that is open, in an example that has one.
  private let lookUp: PendingLookup?

  /// Every example of the page, by name.
  package static func all() throws -> [String: ModelExample] {
    let text = try ProjectFile.text("docs/internals/model.md")
    var examples: [String: ModelExample] = [:]
    for block in text.split(separator: "\n```example ").dropFirst() {
      guard let end = block.firstRange(of: "\n```") else { throw Malformed(description: "an example without an end") }
      let lines = block[..<end.lowerBound].split(separator: "\n")
      guard let name = lines.first.map(String.init), examples[name] == nil else {
        throw Malformed(description: "an example without a name of its own")
      }
      examples[name] = try ModelExample(name, lines.dropFirst().map { $0.split(separator: " ").map(String.init) })
    }
    return examples
  }

  private init(_ name: String, _ lines: [[String]]) throws {
    self.name = name
    var messages: [Findings] = []
    var expectations: [[String]] = []
    var lookUp: PendingLookup?
    for words in lines {
      if words.first == "=>" {
        expectations.append(Array(words.dropFirst()))
        continue
      }
      let line = try ExampleLine(words, number: messages.count + 1)
      if let open = line.lookUp { lookUp = open } else { messages.append(line.findings) }
    }
    guard !expectations.isEmpty else { throw Malformed(description: "\(name) expects nothing") }
    (self.messages, self.expectations, self.lookUp) = (messages, expectations, lookUp)
  }

  /// What is kept of the messages, wherever it is kept.
  package struct Kept: Sendable {
    package var purchases: [PurchaseStatement] = []
    package var renewals: [RenewalStatement] = []
    package var events: [Event] = []
    package var attributions: [AccountAssociation] = []
    /// The originalTransactionIds of each customer.
    package var customers: Set<Set<String>> = []
    /// The originalTransactionIds that each id leads to, for the ids that the example asks for.
    package var found: [String: Set<String>] = [:]

    package init() {}
  }

  /// The originalTransactionIds of the example.
  package var originals: [String] { Set(messages.flatMap(\.originalTransactionIDs)).sorted() }

  /// The ids that it looks up.
  package var lookups: [String] { expectations.filter { $0.first == "found" && $0.count > 1 }.map { $0[1] } }

  /// What would be kept if the messages came in this order, without any database.
  package static func kept(of messages: [Findings], lookingUp ids: [String]) -> Kept {
    var kept = Kept()
    kept.purchases = PurchaseStatement.latest(of: messages.flatMap(\.purchases))
    kept.renewals = RenewalStatement.latest(of: messages.flatMap(\.renewals))
    kept.events = messages.flatMap(\.events)
    kept.attributions = AccountAssociation.merged(messages.flatMap(\.attributions))
    var labels = CustomerLabels()
    for link in messages.flatMap(\.links) { labels.join(link.a, link.b) }
    let originals = Set(messages.flatMap(\.originalTransactionIDs))
    kept.customers = Set(
      Dictionary(grouping: originals) { labels.label(of: .originalTransactionID($0)) }.values.map(Set.init))
    for id in ids {
      let attributed = messages.flatMap(\.attributions).filter { $0.kind == .userID && $0.value == id }
      let users = attributed.filter { !$0.isClaimed }.map(\.originalTransactionID)
      let aliases = messages.flatMap(\.aliases).filter { $0.id == id }
      let proven = aliases.filter { !$0.isClaimed }.map(\.originalTransactionID)
      let found = Set(users + proven + originals.filter { $0 == id })
      // A claim leads where nothing else is known under the id, and to nothing that is signed.
      let signed = Set(
        kept.purchases.filter(\.source.isSigned).map(\.key.originalTransactionID)
          + kept.renewals.filter(\.source.isSigned).map(\.key.originalTransactionID))
      let claimed = Set(aliases.map(\.originalTransactionID) + attributed.map(\.originalTransactionID))
      kept.found[id] = found.isEmpty ? claimed.subtracting(signed) : found
    }
    return kept
  }

  /// What is otherwise than the example says; empty when all is as it says.
  package func failures(of kept: Kept) -> [String] {
    let view = ExampleView(kept, asking: lookUp)
    return expectations.compactMap { words in
      let expected = words.joined(separator: " ")
      let actual = view.answer(words)
      return actual == expected ? nil : "\(name): expected «\(expected)», found «\(actual)»"
    }
  }
}
