package import Runtime
import Synchronization

/// Keeps the lines in memory.
package final class RecordingLogHandler: LogHandler {
  private let kept = Mutex<[LogRecord]>([])

  package init() {}

  package var records: [LogRecord] { kept.withLock { $0 } }
  package var messages: [String] { records.map(\.message) }

  package func log(_ record: LogRecord) { kept.withLock { $0.append(record) } }
}
