package import JSON
import Ledger
package import Time

/// Why nothing of a bulk migration goes on although nothing is wrong with it.
package struct MigrationBlocker: Hashable, Sendable {
  package enum Cause: String, Sendable {
    case paused
    /// A file in a data directory, which its processes heed.
    case file
    /// The hours of the day within which the job runs.
    case hours
  }

  package let cause: Cause
  package let text: String
  /// Whether only some processes are held up, and others work on the job.
  package let isPartial: Bool

  /// Nil where the job may go on, or has ended.
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

  /// For people, as a line of its own.
  package var told: String { isPartial ? text : "held up: \(text)" }

  package var json: JSONObject { ["cause": .string(cause.rawValue), "text": .string(text)] }
}

extension MigrationRecord {
  /// Why nothing of the job goes on now although nothing is wrong with it; nil where it may go on, or has ended.
  ///
  /// - Parameter flag: the file that holds up all jobs of a data directory; nil where it is not there.
  package func holdUp(byFile flag: String?, at now: Timestamp) -> MigrationBlocker? {
    MigrationBlocker(self, byFile: flag, at: now)
  }
}
