/// Writes the text exposition format 0.0.4 (Prometheus: Exposition formats).
package struct PrometheusText: Sendable {
  /// The Content-Type of an answer with this text.
  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  package private(set) var bytes: [UInt8] = []

  mutating func header(_ metric: MetricDescription) {
    bytes += "# HELP \(metric.name) \(Self.escaped(metric.help, quotes: false))\n".utf8
    bytes += "# TYPE \(metric.name) \(metric.kind.rawValue)\n".utf8
  }

  mutating func sample(_ name: String, labels: String, value: String) {
    bytes += (labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n").utf8
  }

  static func labels(_ names: [String], _ values: [String]) -> String {
    zip(names, values).map { "\($0)=\"\(escaped($1, quotes: true))\"" }.joined(separator: ",")
  }

  /// A number as Go reads it.
  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    return Int64(exactly: value).map(String.init) ?? value.description
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": out += #"\\"#
      case "\n": out += #"\n"#
      case "\"" where quotes: out += #"\""#
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }
}
