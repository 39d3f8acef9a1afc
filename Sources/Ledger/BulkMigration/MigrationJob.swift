package import JSON
package import Purchases
package import Time

package struct MigrationJob: Hashable, Sendable {
  /// The state, with its number in the table.
  package enum State: Int, Hashable, Sendable, CaseIterable {
    case running = 1
    case paused = 2
    /// Every row was read, and every ID has its final result.
    case done = 3
    case cancelled = 4
    /// The job cannot continue automatically for the reason in `trouble`.
    ///
    /// It can be resumed.
    case failed = 5

    package var name: String { "\(self)" }
    package var isFinal: Bool { self == .done || self == .cancelled }
  }

  package let id: Int
  package let state: State
  package let createdAt: Timestamp
  package let createdBy: String
  package let finishedAt: Timestamp?
  /// The app of all rows.
  ///
  /// `nil` if each row names its app.
  package let app: App.ID?
  /// The environment of rows that do not name one.
  package let environment: Environment?
  package let settings: MigrationSettings
  /// The reason of a failure or of a pause.
  ///
  /// `nil` while the job can continue, or without a reason.
  package let trouble: String?

  package var pauseReason: String? { state == .paused ? trouble : nil }
  package var failure: String? { state == .failed ? trouble : nil }
}

/// The settings that an operator may change while a job runs, and the accepted warnings.
package struct MigrationSettings: Hashable, Sendable {
  /// The maximum number of history requests per second.
  ///
  /// `nil`: as many as Apple allows.
  package var callsPerSecond: Int?
  package var rowsPerSecond: Int?
  /// The hours of the day, in UTC, in which the job works.
  ///
  /// `nil`: all day.
  package var hours: MigrationHours?
  package var accepted: [String] = []

  package init() {}

  /// Unknown members are ignored: a newer build may have written them.
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

/// Hours of the day in UTC, as `22-6`: from the first up to the second, over midnight if necessary.
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
