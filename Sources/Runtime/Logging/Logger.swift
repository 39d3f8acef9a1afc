/// Says what happened, to whoever reads the log: the surface of swift-log's `Logger`.
///
/// A value: a copy with more metadata or another level changes nothing elsewhere. Data belongs into the metadata, where
/// it is escaped and cut; the message is a sentence of ours. No secret, receipt or JWS goes in.
package struct Logger: Sendable {
  package typealias Metadata = [String: MetadataValue]

  package let label: String
  package var logLevel: Level
  private var metadata: Metadata = [:]
  private let handler: any LogHandler

  package init(label: String, level: Level = .info, handler: any LogHandler) {
    self.label = label
    self.logLevel = level
    self.handler = handler
  }

  /// Metadata of every line of this copy; what a call hands in wins over it.
  package subscript(metadataKey key: String) -> MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Writes one line; neither argument is evaluated below `logLevel`.
  package func log(
    level: Level, _ message: @autoclosure () -> Message, metadata extra: @autoclosure () -> Metadata? = nil
  ) {
    guard level >= logLevel else { return }
    var all = metadata
    if let extra = extra() { all.merge(extra) { _, new in new } }
    handler.log(LogRecord(level: level, label: label, message: message().text, metadata: all))
  }

  package func trace(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {
    log(level: .trace, message(), metadata: metadata())
  }

  package func debug(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {
    log(level: .debug, message(), metadata: metadata())
  }

  package func info(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {
    log(level: .info, message(), metadata: metadata())
  }

  package func notice(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {
    log(level: .notice, message(), metadata: metadata())
  }

  package func warning(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {
    log(level: .warning, message(), metadata: metadata())
  }

  package func error(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {
    log(level: .error, message(), metadata: metadata())
  }

  package func critical(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {
    log(level: .critical, message(), metadata: metadata())
  }
}

extension Logger {
  /// How much a line matters, after swift-log: `info` for what an operator follows, `warning` for what someone should
  /// look at some day, `error` for what failed, `critical` for what stops the service.
  package enum Level: String, CaseIterable, Comparable, Sendable {
    case trace, debug, info, notice, warning, error, critical

    private var rank: Int {
      switch self {
      case .trace: 0
      case .debug: 1
      case .info: 2
      case .notice: 3
      case .warning: 4
      case .error: 5
      case .critical: 6
      }
    }

    package static func < (a: Self, b: Self) -> Bool { a.rank < b.rank }
  }

  /// The sentence of a line: a literal, so that no string from outside becomes one by accident.
  package struct Message: ExpressibleByStringInterpolation, CustomStringConvertible, Sendable {
    package let text: String

    package init(stringLiteral value: String) { text = value }

    package var description: String { text }
  }

  /// A value beside the message: text, a list, or named values.
  package enum MetadataValue: Sendable, Equatable {
    case string(String)
    case array([MetadataValue])
    case dictionary(Metadata)
  }
}

extension Logger.MetadataValue: ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(arrayLiteral elements: Self...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, Self)...) {
    self = .dictionary(Dictionary(elements) { _, new in new })
  }
}
