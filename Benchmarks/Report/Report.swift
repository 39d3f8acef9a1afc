import Runtime

/// All figures of a run, as a table.
struct Report {
  private var measurements: [Measurement] = []

  mutating func add(_ more: [Measurement]) { measurements += more }

  func table(for terminal: Terminal) -> String {
    var table = TextTable([
      .init("figure"), .init("value", .right), .init("unit"), .init("against", .right), .init("ratio", .right),
      .init("target", .right), .init("met"), .init("compared with"),
    ])
    for measurement in measurements {
      table.add([
        measurement.name, Figure.text(measurement.value), measurement.unit,
        measurement.against.map(Figure.text) ?? "", measurement.ratio.map(Figure.text) ?? "",
        measurement.target?.text ?? "", measurement.isMet.map { $0 ? "yes" : "NO" } ?? "", measurement.peer ?? "",
      ])
    }
    return table.render(for: terminal)
  }
}
