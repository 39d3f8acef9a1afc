/// Rows in columns, for a person.
package struct TextTable: Sendable {
  package enum Alignment: Sendable { case left, right }

  package enum Style: Sendable {
    /// A rule under the titles; cut to the width of the terminal.
    case ruled
    /// No rule and nothing cut, for `--plain` and pipes.
    case plain
  }

  package struct Column: Sendable {
    let title: String
    let alignment: Alignment

    package init(_ title: String, _ alignment: Alignment = .left) {
      self.title = title
      self.alignment = alignment
    }
  }

  private static let gap = "  "
  private static let narrowest = 4
  private static let longestCell = 4_096

  private let columns: [Column]
  private var rows: [[String]] = []

  package init(_ columns: [Column]) { self.columns = columns }

  /// Adds a row, which must have a cell for each column; control characters in cells are escaped.
  package mutating func add(_ cells: [String]) {
    precondition(cells.count == columns.count, "a row has \(cells.count) cells for \(columns.count) columns")
    rows.append(cells.map { SafeText.escaped($0, limit: Self.longestCell) })
  }

  /// The table for this terminal: ruled and cut to its width on a TTY, else plain.
  package func render(for terminal: Terminal, plain: Bool = false) -> String {
    terminal.isOutputTTY && !plain ? render(.ruled, width: terminal.width) : render(.plain)
  }

  package func render(_ style: Style, width: Int? = nil) -> String {
    var widths = columns.indices.map { index in
      rows.reduce(columns[index].title.displayWidth) { max($0, $1[index].displayWidth) }
    }
    if let width { Self.shrink(&widths, to: width - Self.gap.count * (columns.count - 1)) }
    var lines = [line(columns.map(\.title), widths)]
    switch style {
    case .ruled: lines.append(widths.map { String(repeating: "─", count: $0) }.joined(separator: Self.gap))
    case .plain: break
    }
    lines += rows.map { line($0, widths) }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Takes from the widest column until all fit or none can give more.
  private static func shrink(_ widths: inout [Int], to room: Int) {
    var excess = widths.reduce(0, +) - room
    while excess > 0, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > narrowest {
      widths[widest] -= 1
      excess -= 1
    }
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    let padded = columns.indices.map { index in
      let cell = cells[index].truncated(to: widths[index])
      let isLast = index == columns.count - 1
      switch columns[index].alignment {
      case .left: return isLast ? cell : cell.padded(to: widths[index])
      case .right: return cell.padded(to: widths[index], onLeft: true)
      }
    }
    return padded.joined(separator: Self.gap)
  }
}
