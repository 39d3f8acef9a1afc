package import JSON
package import Purchases
package import Time

/// A bulk migration: what an operator asked for, and how it stands.
package struct MigrationJob: Hashable, Sendable {
  /// Its number in the table.
  package enum State: Int, Hashable, Sendable, CaseIterable {
    case running = 1
    case paused = 2
    /// Every row was read, and every id has its final answer.
    case done = 3
    case cancelled = 4
    /// It cannot go on by itself; `trouble` says why. It can be resumed.
    case failed = 5

    package var name: String { "\(self)" }
    /// Whether there is nothing more to be done, now or later.
    package var isFinal: Bool { self == .done || self == .cancelled }
  }

  package let id: Int
  package let state: State
  package let createdAt: Timestamp
  package let createdBy: String
  package let finishedAt: Timestamp?
  /// Whose the rows are; nil: each says it itself.
  package let app: App.ID?
  /// Of what does not say its environment.
  package let environment: Environment?
  package let settings: MigrationSettings
  /// Why it cannot go on, or what an operator said when it was paused; nil while it can, or where nothing was said.
  package let trouble: String?

  /// What an operator said when the job was paused.
  package var pauseReason: String? { state == .paused ? trouble : nil }
  /// Why the job failed.
  package var failure: String? { state == .failed ? trouble : nil }
}

/// What an operator may say of a job while it runs, and what was accepted when it began.
package struct MigrationSettings: Hashable, Sendable {
  /// Customers whose history is asked for in a second at most; nil: as many as Apple allows.
  package var callsPerSecond: Int?
  /// Rows that are read in a second at most.
  package var rowsPerSecond: Int?
  /// Hours of the day, UTC, within which it works; nil: all day.
  package var hours: MigrationHours?
  /// What the operator was warned of and accepted.
  package var accepted: [String] = []

  package init() {}

  /// Members that this build does not know are ignored: a newer one may have written them.
  package init(_ json: JSONObject) {
    callsPerSecond = json["callsPerSecond"]?.integer.map { Int(clamping: $0) }
    rowsPerSecond = json["rowsPerSecond"]?.integer.map { Int(clamping: $0) }
    hours = (json["hours"]?.string).flatMap { MigrationHours($0) }
    accepted = json["accepted"]?.array?.compactMap(\.string) ?? []
  }

  package var json: JSONObject {
    var json: JSONObject = ["accepted": .array(accepted.map(JSONValue.string))]
    json["callsPerSecond"] = callsPerSecond.map { .integer(Int64($0)) }
    json["rowsPerSecond"] = rowsPerSecond.map { .integer(Int64($0)) }
    json["hours"] = hours.map { .string($0.text) }
    return json
  }
}

/// Hours of the day in UTC, as `22-6`: from the first up to the second, over midnight if need be.
package struct MigrationHours: Hashable, Sendable {
  private let from: Int
  private let to: Int

  package init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let from = parts[0], let to = parts[1], (0...24).contains(from), (0...24).contains(to),
      from != to
    else { return nil }
    (self.from, self.to) = (from, to)
  }

  package var text: String { "\(from)-\(to)" }

  /// `from 22 to 6`.
  package var words: String { "from \(from) to \(to)" }

  package func contain(_ instant: Timestamp) -> Bool {
    let hour = Int((instant.sinceEpoch / 3_600_000) % 24)
    return from < to ? (from..<to).contains(hour) : hour >= from || hour < to
  }
}
