package import Time

/// How a line looks: for a person, or one JSON object for a collector.
package enum LogFormat: Sendable, Equatable {
  case human(color: Bool)
  case json
}

/// Writes lines to stderr: `2026-11-21T00:45:48.123Z info  [intake] stored app=demo kind=V2`, or JSON.
///
/// JSON: `{"time":…,"level":…,"logger":…,"message":…,"metadata":{…}}`. Metadata is sorted by key.
package struct StreamLogHandler: LogHandler {
  /// The longest message and the longest value, in bytes; what is longer ends with "…".
  package static let longestMessage = 4_096
  package static let longestValue = 1_024
  private static let deepest = 4
  private static let mostElements = 64

  private let sink: LogSink
  private let clock: WallClock?
  private let format: LogFormat

  package init(to sink: LogSink = .standardError, clock: WallClock?, format: LogFormat) {
    self.sink = sink
    self.clock = clock
    self.format = format
  }

  package func log(_ record: LogRecord) {
    guard let dropped = sink.write(line(record)), dropped > 0 else { return }
    let notice = LogRecord(
      level: .warning, label: "log", message: "lines were dropped because they were not read",
      metadata: ["count": "\(dropped)"])
    _ = sink.write(line(notice))
  }

  /// The bytes of a line, newline included.
  func line(_ record: LogRecord) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(256)
    switch format {
    case .human(let color): appendHuman(record, color: color, to: &out)
    case .json: appendJSON(record, to: &out)
    }
    out.append(0x0a)
    return out
  }

  /// The time, always with milliseconds, so that columns stay in line.
  private var timestamp: String? {
    guard let text = clock?.now().iso8601 else { return nil }
    return text.utf8.contains(UInt8(ascii: ".")) ? text : text.dropLast() + ".000Z"
  }

  private func appendHuman(_ record: LogRecord, color: Bool, to out: inout [UInt8]) {
    if let timestamp { out += "\(timestamp) ".utf8 }
    let level = record.level.rawValue
    let padding = String(repeating: " ", count: max(0, 5 - level.utf8.count))
    out += (color ? "\(Self.color(record.level))\(level)\u{1b}[0m\(padding) [" : "\(level)\(padding) [").utf8
    SafeText.append(record.label, to: &out, limit: Self.longestValue, quotes: false)
    out += "] ".utf8
    SafeText.append(record.message, to: &out, limit: Self.longestMessage, quotes: false)
    for (key, value) in record.metadata.sorted(by: { $0.key < $1.key }) {
      out.append(0x20)
      SafeText.append(key, to: &out, limit: Self.longestValue, quotes: false)
      out.append(UInt8(ascii: "="))
      appendHuman(value, depth: 0, to: &out)
    }
  }

  private func appendHuman(_ value: Logger.MetadataValue, depth: Int, to out: inout [UInt8]) {
    switch value {
    case .string(let text):
      let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !#""\=[]{},"#.utf8.contains($0) }
      if isPlain {
        SafeText.append(text, to: &out, limit: Self.longestValue, quotes: false)
      } else {
        appendQuoted(text, to: &out)
      }
    case .array, .dictionary: appendJSON(value, depth: depth, to: &out)
    }
  }

  private func appendJSON(_ record: LogRecord, to out: inout [UInt8]) {
    out += "{".utf8
    if let timestamp { out += #""time":"\#(timestamp)","#.utf8 }
    out += #""level":"\#(record.level.rawValue)","logger":"#.utf8
    appendQuoted(record.label, to: &out)
    out += #","message":"#.utf8
    appendQuoted(record.message, limit: Self.longestMessage, to: &out)
    if !record.metadata.isEmpty {
      out += #","metadata":"#.utf8
      appendJSON(.dictionary(record.metadata), depth: 0, to: &out)
    }
    out += "}".utf8
  }

  private func appendJSON(_ value: Logger.MetadataValue, depth: Int, to out: inout [UInt8]) {
    guard depth <= Self.deepest else { return appendQuoted("…", to: &out) }
    switch value {
    case .string(let text): appendQuoted(text, to: &out)
    case .array(let values):
      out += "[".utf8
      for (index, value) in values.prefix(Self.mostElements).enumerated() {
        if index > 0 { out += ",".utf8 }
        appendJSON(value, depth: depth + 1, to: &out)
      }
      out += (values.count > Self.mostElements ? ",\"…\"]" : "]").utf8
    case .dictionary(let values):
      out += "{".utf8
      let sorted = values.sorted { $0.key < $1.key }
      for (index, (key, value)) in sorted.prefix(Self.mostElements).enumerated() {
        if index > 0 { out += ",".utf8 }
        appendQuoted(key, to: &out)
        out += ":".utf8
        appendJSON(value, depth: depth + 1, to: &out)
      }
      out += (values.count > Self.mostElements ? #","…":"…"}"# : "}").utf8
    }
  }

  private func appendQuoted(_ text: String, limit: Int = Self.longestValue, to out: inout [UInt8]) {
    out += "\"".utf8
    SafeText.append(text, to: &out, limit: limit, quotes: true)
    out += "\"".utf8
  }

  private static func color(_ level: Logger.Level) -> String {
    switch level {
    case .trace, .debug: "\u{1b}[2m"
    case .info: "\u{1b}[32m"
    case .notice: "\u{1b}[36m"
    case .warning: "\u{1b}[33m"
    case .error, .critical: "\u{1b}[1;31m"
    }
  }
}
