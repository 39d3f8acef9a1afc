/// Rows in columns, for a person.
///
/// A terminal that is too narrow costs no figure and no name: the last column's text goes on in the next line, then other texts
/// are cut. Never cut are the first column, columns of numbers (those that are aligned right) and columns that are whole. If
/// these do not fit either, each row is a block of lines, with an empty line between two.
package struct TextTable: Sendable {
  package enum Alignment: Sendable { case left, right }

  package enum Style: Sendable {
    /// A rule under the titles; fitted to the width of the terminal.
    case ruled
    /// No rule and nothing fitted, for `--plain` and pipes.
    case plain
  }

  package struct Column: Sendable {
    let title: String
    let alignment: Alignment
    let isWhole: Bool

    /// - Parameter isWhole: its cells name something, so that they are never cut.
    package init(_ title: String, _ alignment: Alignment = .left, isWhole: Bool = false) {
      self.title = title
      self.alignment = alignment
      self.isWhole = isWhole
    }
  }

  private static let gap = "  "
  /// To what a column is cut, and the last one wrapped, at most.
  private static let (narrowest, narrowestText) = (12, 20)
  private static let longestCell = 4_096

  private let columns: [Column]
  private var rows: [[String]] = []

  package init(_ columns: [Column]) { self.columns = columns }

  /// Adds a row, which must have a cell for each column; control characters in cells are escaped.
  package mutating func add(_ cells: [String]) {
    precondition(cells.count == columns.count, "a row has \(cells.count) cells for \(columns.count) columns")
    rows.append(cells.map { SafeText.escaped($0, limit: Self.longestCell) })
  }

  /// The table for this terminal: ruled and fitted to its width on a TTY, else plain.
  package func render(for terminal: Terminal, plain: Bool = false) -> String {
    terminal.isOutputTTY && !plain ? render(.ruled, width: terminal.width) : render(.plain)
  }

  /// - Parameter width: of the terminal; plain tables have no bound.
  package func render(_ style: Style, width: Int? = nil) -> String {
    var widths = columns.indices.map { index in
      rows.reduce(columns[index].title.displayWidth) { max($0, $1[index].displayWidth) }
    }
    var lines: [String] = []
    switch style {
    case .ruled:
      if let width {
        guard let fitted = self.fitted(widths, to: width - Self.gap.count * (columns.count - 1)) else {
          return blocks(width)
        }
        widths = fitted
      }
      lines += self.lines(columns.map(\.title), widths)
      lines.append(widths.map { String(repeating: "─", count: $0) }.joined(separator: Self.gap))
    case .plain: lines += self.lines(columns.map(\.title), widths)
    }
    for row in rows { lines += self.lines(row, widths) }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The widths with which all columns fit; nil if something would be cut that may not be.
  private func fitted(_ natural: [Int], to room: Int) -> [Int]? {
    var widths = natural
    var excess = widths.reduce(0, +) - room
    func least(_ index: Int) -> Int {
      let column = columns[index]
      if index == 0 || column.alignment == .right || column.isWhole { return natural[index] }
      let bound = index == columns.count - 1 ? Self.narrowestText : Self.narrowest
      return min(natural[index], max(column.title.displayWidth, bound))
    }
    // The last column loses nothing: its text is wrapped.
    if excess > 0, let last = widths.indices.last {
      let given = min(excess, widths[last] - least(last))
      widths[last] -= given
      excess -= given
    }
    while excess > 0 {
      let cuttable = widths.indices.filter { widths[$0] > least($0) }
      guard let widest = cuttable.max(by: { widths[$0] < widths[$1] }) else { return nil }
      widths[widest] -= 1
      excess -= 1
    }
    return widths
  }

  /// The lines of a row: more than one where the last cell is wrapped.
  private func lines(_ cells: [String], _ widths: [Int]) -> [String] {
    guard let last = cells.last, let width = widths.last, columns.last?.alignment == .left else {
      return [line(cells, widths)]
    }
    let others = Array(cells.dropLast())
    let none = others.map { _ in "" }
    return last.folded(to: width).enumerated().map { number, text in
      line((number == 0 ? others : none) + [text], widths)
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

  /// Each row by itself: the first cell, and under it each other one after its title.
  private func blocks(_ width: Int) -> String {
    var lines = rows.isEmpty ? columns.map(\.title).joined(separator: Self.gap).folded(to: width) : []
    for (number, row) in rows.enumerated() {
      if number > 0 { lines.append("") }
      if !row[0].isEmpty { lines += row[0].folded(to: width) }
      var line = ""
      for (column, cell) in zip(columns, row).dropFirst() {
        let part = Self.gap + "\(column.title) \(cell)"
        if !line.isEmpty, line.displayWidth + part.displayWidth > width {
          lines.append(line)
          line = ""
        }
        line += part
        guard line.displayWidth > width else { continue }
        lines += line.folded(to: width - Self.gap.count).map { Self.gap + $0 }
        line = ""
      }
      if !line.isEmpty { lines.append(line) }
    }
    return lines.map { $0 + "\n" }.joined()
  }
}
