/// What is known of a metric before it has a value: enough for documentation and for tests of alerts and dashboards.
package struct MetricDescription: Sendable, Hashable {
  package enum Kind: String, Sendable, CaseIterable { case counter, gauge, histogram }

  /// Why a declaration is refused.
  package enum Problem: Error, Hashable {
    case grammar(String)
    case unit(String)
    case reserved(String)
    case emptyHelp
  }

  private static let units = ["_seconds", "_bytes", "_ratio", "_rows"]

  package let name: String
  package let kind: Kind
  package let help: String
  package let labels: [String]

  package init(name: String, kind: Kind, help: String, labels: [String] = []) {
    self.name = name
    self.kind = kind
    self.help = help
    self.labels = labels
  }

  /// The names under which Prometheus keeps the series: a histogram has three.
  package var seriesNames: [String] {
    switch kind {
    case .counter, .gauge: [name]
    case .histogram: [name + "_bucket", name + "_sum", name + "_count"]
    }
  }

  /// The first thing wrong with the declaration, nil when it is in order.
  ///
  /// Stricter than Prometheus' grammar: snake case; a counter ends with `_total` and nothing else does; a histogram ends
  /// with its unit (Prometheus: Metric and label naming; the project's operators' conventions 8).
  package var problem: Problem? {
    if !Self.isSnakeCase(name) { return .grammar(name) }
    switch kind {
    case .counter: if !name.hasSuffix("_total") { return .unit(name) }
    case .gauge: if name.hasSuffix("_total") { return .unit(name) }
    case .histogram: if !Self.units.contains(where: name.hasSuffix) { return .unit(name) }
    }
    if ["_bucket", "_count", "_sum", "_info", "_created"].contains(where: name.hasSuffix) { return .reserved(name) }
    for (index, label) in labels.enumerated() {
      if !Self.isSnakeCase(label) { return .grammar(label) }
      if ["le", "quantile", "job", "instance"].contains(label) || labels[..<index].contains(label) {
        return .reserved(label)
      }
    }
    return help.isEmpty ? .emptyHelp : nil
  }

  private static func isSnakeCase(_ text: String) -> Bool {
    guard let first = text.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return false }
    return text.utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
      default: false
      }
    }
  }
}
