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
