extension String {
  /// The columns a terminal needs for this text: East Asian wide characters and emoji take two, marks none.
  ///
  /// An approximation of Unicode's East Asian Width, good enough to keep columns in line.
  package var displayWidth: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return reduce(0) { $0 + Self.width($1) }
  }

  /// At least `columns` wide, filled with spaces.
  func padded(to columns: Int, onLeft: Bool = false) -> String {
    let fill = String(repeating: " ", count: Swift.max(0, columns - displayWidth))
    return onLeft ? fill + self : self + fill
  }

  /// No wider than `columns`; what is cut off is said by "…".
  package func truncated(to columns: Int) -> String {
    guard displayWidth > columns else { return self }
    var room = columns - 1
    var kept = ""
    for character in self {
      room -= Self.width(character)
      if room < 0 { break }
      kept.append(character)
    }
    return columns > 0 ? kept + "…" : ""
  }

  /// The words on lines of at most `columns`, each indented; a word that is longer has a line of its own.
  func wrapped(to columns: Int, indent: Int = 0) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in split(separator: " ") {
      if !line.isEmpty, indent + line.displayWidth + 1 + String(word).displayWidth > columns {
        lines.append(margin + line)
        line = ""
      }
      line += line.isEmpty ? "\(word)" : " \(word)"
    }
    return lines + [line.isEmpty ? "" : margin + line]
  }

  /// All of it on lines of at most `columns`, broken between words where that is possible.
  func folded(to columns: Int) -> [String] {
    guard displayWidth > columns, columns > 1 else { return [self] }
    return wrapped(to: columns).flatMap { line in
      var parts = [""]
      var room = columns
      for character in line {
        let width = Self.width(character)
        if width > room {
          parts.append("")
          room = columns
        }
        parts[parts.count - 1].append(character)
        room -= width
      }
      return parts
    }
  }

  private static func width(_ character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    if character.unicodeScalars.contains(where: { $0.value == 0xfe0f }) { return 2 }
    switch first.value {
    case 0x300...0x36f, 0x200b...0x200f: return 0
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
      0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1f9ff, 0x20000...0x3fffd:
      return 2
    default: return 1
    }
  }
}
