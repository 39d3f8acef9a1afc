import JSON
import Runtime
import Simulator

/// What became of each message of a story, as a table.
struct StoryReport {
  /// What the service answered.
  struct Outcome {
    let status: Int
    /// `stored`, `duplicate`, `quarantined`, …; `refused` when there is an error instead.
    let word: String
    let errorCode: String?

    init(status: Int, body: JSONObject) {
      self.status = status
      errorCode = body["error"]?.object?["code"]?.string
      word = body["status"]?.string ?? "refused"
    }
  }

  private let terminal: Terminal
  private var table = TextTable([
    .init("#", .right), .init("APP"), .init("MESSAGE"), .init("WHAT HAPPENED"), .init("HTTP", .right), .init("OUTCOME"),
    .init("WHY"),
  ])
  private var counts: [String: Int] = [:]

  init(terminal: Terminal) { self.terminal = terminal }

  /// Adds a line; false when it did not become what it should.
  mutating func add(_ message: Story.Message, _ outcome: Outcome, reason: String?) -> Bool {
    let isExpected =
      switch message.expectation {
      case .stored: outcome.word == "stored"
      case .duplicate: outcome.word == "duplicate"
      case .quarantined(let code): outcome.word.hasPrefix("quarantined") && reason == code
      case .refused(let code): outcome.word == "refused" && reason == code
      }
    let word = outcome.word == "quarantinedBefore" ? "quarantined" : outcome.word
    counts[word, default: 0] += 1
    table.add([
      "\(message.number)", message.notification?.bundleID ?? "-", message.notification?.title ?? "-", message.caption,
      "\(outcome.status)", word, (reason ?? "") + (isExpected ? "" : "  UNEXPECTED: \(message.expectation)"),
    ])
    return isExpected
  }

  func print(_ apps: [String]) throws {
    let summary = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    try terminal.write(
      """
      The story of \(apps.joined(separator: " and ")), sent over HTTP: what became of each message

      \(table.render(for: terminal))
      \(summary)

      """)
  }
}

/// What is known of every purchase in the end, as a table.
struct KnownReport {
  private let terminal: Terminal
  private var table = TextTable([
    .init("APP"), .init("ORIGINAL TRANSACTION"), .init("PRODUCT"), .init("PERIODS", .right), .init("STATUS"),
    .init("EVENTS", .right),
  ])

  init(terminal: Terminal) { self.terminal = terminal }

  /// Adds what a look-up of one originalTransactionId gave.
  mutating func add(app: String, _ result: JSONObject) {
    let purchases = (result["purchases"]?.array ?? []).compactMap(\.object)
    let subscription = result["subscriptions"]?.array?.first?.object
    let last = purchases.last
    let isRevoked = last?["revocationDate"] != nil
    table.add([
      app, last?["originalTransactionId"]?.string ?? "-",
      subscription?["productId"]?.string ?? last?["productId"]?.string ?? "-", "\(purchases.count)",
      subscription?["statusName"]?.string ?? (isRevoked ? "revoked" : "bought"),
      "\(result["events"]?.array?.count ?? 0)",
    ])
  }

  func print() throws { try terminal.write("\nWhat is known now\n\n\(table.render(for: terminal))") }
}
