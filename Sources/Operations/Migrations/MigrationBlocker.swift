package import JSON
import Ledger
package import Time

/// The reason why a bulk migration without a failure makes no progress.
package struct MigrationBlocker: Hashable, Sendable {
  package enum Cause: String, Sendable {
    case paused
    /// A file in a data directory, for all its processes.
    case file
    /// The hours of the day in which the job runs.
    case hours
  }

  package let cause: Cause
  package let text: String
  /// Whether only some processes are blocked, and others work on the job.
  package let isPartial: Bool

  /// Returns `nil` if the job may continue, or has ended.
  init?(_ record: MigrationRecord, byFile flag: String?, at now: Timestamp) {
    let job = record.job
    switch job.state {
    case .paused: self.init(.paused, job.pauseReason ?? "an operator paused it")
    case .running:
      if let flag, !record.isWorkedOn {
        self.init(.file, "the file \(flag) exists: remove it to continue")
      } else if let hours = job.settings.hours, !hours.contain(now) {
        self.init(.hours, "it runs only \(hours.words) UTC")
      } else if let flag {
        self.init(
          .file, "The file \(flag) pauses processes of this data directory; other processes work on the job.",
          isPartial: true)
      } else {
        return nil
      }
    case .done, .cancelled, .failed: return nil
    }
  }

  private init(_ cause: Cause, _ text: String, isPartial: Bool = false) {
    (self.cause, self.text, self.isPartial) = (cause, text, isPartial)
  }

  /// The text for messages, on a separate line.
  package var told: String { isPartial ? text : "held up: \(text)" }

  package var json: JSONObject { ["cause": .string(cause.rawValue), "text": .string(text)] }
}

extension MigrationRecord {
  /// Returns the reason why the job makes no progress now, or `nil` if it may continue, or has ended.
  ///
  /// - Parameter flag: the file that blocks all jobs of a data directory. `nil` if it is missing.
  package func holdUp(byFile flag: String?, at now: Timestamp) -> MigrationBlocker? {
    MigrationBlocker(self, byFile: flag, at: now)
  }
}
