import JSON
import Runtime

/// The events of a story, message by message, as a table.
struct StoryReport {
  private var table = TextTable([
    .init("DAY", .right), .init("APP"), .init("WHAT HAPPENS"), .init("APPLE REPORTS, IN V2'S WORDS"), .init("AS"),
    .init("OUTCOME"),
  ])

  mutating func add(day: Int64, app: String, _ caption: String, _ title: String, version: Int64?, _ outcome: String) {
    table.add([
      "\(day)", app.split(separator: ".").last.map(String.init) ?? app, caption, title, version.map { "V\($0)" } ?? "",
      outcome,
    ])
  }

  func print(to terminal: Terminal) throws { try terminal.write(table.render(for: terminal)) }
}

struct StoryChecks {
  private(set) var failures = 0
  private var lines: [String] = []

  mutating func expect(_ isSo: Bool, _ promise: String) {
    if !isSo { failures += 1 }
    lines.append("  \(isSo ? "yes" : "NO ")  \(promise)\n")
  }

  func print(to terminal: Terminal) throws { try terminal.write("\nChecked\n\n" + lines.joined()) }
}

struct KnownReport {
  private var table = TextTable([
    .init("APP"), .init("ORIGINAL TRANSACTION"), .init("PRODUCT"), .init("PURCHASES", .right), .init("STATUS"),
    .init("SIGNED"),
  ])

  mutating func add(app: String, _ result: JSONObject) {
    let purchases = (result["purchases"]?.array ?? []).compactMap(\.object)
    let subscription = result["subscriptions"]?.array?.first?.object
    let last = purchases.last
    let isRevoked = last?["revocationDate"] != nil
    let isDisputed = subscription?["unconfirmed"]?.object?["status"] != nil
    let isConfirmed = (subscription ?? last)?["confirmed"]?.bool == true && !isDisputed
    table.add([
      app.split(separator: ".").last.map(String.init) ?? app, last?["originalTransactionId"]?.string ?? "-",
      subscription?["productId"]?.string ?? last?["productId"]?.string ?? "-", "\(purchases.count)",
      subscription?["statusName"]?.string ?? (isRevoked ? "revoked" : "bought"), isConfirmed ? "yes" : "V1's word",
    ])
  }

  func print(to terminal: Terminal) throws {
    try terminal.write("\nThe ledger now\n\n\(table.render(for: terminal))")
  }
}
