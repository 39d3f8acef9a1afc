import Synchronization

/// Where lines go; it should not wait.
package protocol LogHandler: Sendable {
  func log(_ record: LogRecord)
}

/// One line before it is written.
package struct LogRecord: Sendable, Equatable {
  package let level: Logger.Level
  package let label: String
  package let message: String
  package let metadata: Logger.Metadata
}

/// Keeps the lines in memory, for tests.
package final class RecordingLogHandler: LogHandler {
  private let kept = Mutex<[LogRecord]>([])

  package init() {}

  package var records: [LogRecord] { kept.withLock { $0 } }
  package var messages: [String] { records.map(\.message) }

  package func log(_ record: LogRecord) { kept.withLock { $0.append(record) } }
}

/// What `Logger(label:)` uses: set once, by the executable, before anything logs.
package enum LoggingSystem {
  private static let chosen = Mutex<(handler: any LogHandler, level: Logger.Level)?>(nil)

  /// Sets the handler and level of every logger made afterwards; a second call stops the process, as in swift-log.
  package static func bootstrap(_ handler: any LogHandler, level: Logger.Level = .info) {
    chosen.withLock {
      precondition($0 == nil, "the logging system is set up twice")
      $0 = (handler, level)
    }
  }

  static var standard: (handler: any LogHandler, level: Logger.Level) {
    chosen.withLock { $0 } ?? (StreamLogHandler(clock: nil, format: .human(color: false)), .info)
  }
}
