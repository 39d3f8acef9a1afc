extension Command {
  /// The help of this command, examples first, no wider than `width`.
  ///
  /// - Parameter stopNote: what stays when a signal stops it; nil where a signal ends it at once.
  func help(path: [String], inherited: some Sequence<Option>, stopNote: String?, width: Int) -> String {
    let width = min(max(width, 40), 100)
    let called = path.joined(separator: " ")
    var out = "\(called): \(summary)".wrapped(to: width)
    if !examples.isEmpty {
      out += ["", "EXAMPLES"]
      for example in examples {
        if !example.note.isEmpty { out += "# \(example.note)".wrapped(to: width, indent: 2) }
        out.append("  " + example.line)
      }
    }
    let words = [called] + (options.isEmpty ? [] : ["[OPTIONS]"])
    let rest = subcommands.isEmpty ? positionals.map(\.usage) : ["COMMAND"]
    out += ["", "USAGE"] + (words + rest).joined(separator: " ").wrapped(to: width, indent: 2)
    if !discussion.isEmpty {
      out.append("")
      for paragraph in discussion.split(separator: "\n", omittingEmptySubsequences: false) {
        out += String(paragraph).wrapped(to: width)
      }
    }
    if let stopNote {
      out.append("")
      out += """
        SIGINT (Ctrl-C) or SIGTERM stops it. It prints the summary of its work and ends with exit status 130 or \
        143. \(stopNote) A second signal ends it immediately.
        """.wrapped(to: width)
    }
    for group in groups.isEmpty ? [("COMMANDS", shownCommands.map(\.name))] : groups {
      let commands = shownCommands.filter { group.commands.contains($0.name) }
      out += Self.section(group.title, commands.map { ($0.name, $0.summary) }, width)
    }
    out += Self.section("ARGUMENTS", positionals.map { ($0.usage, $0.help + Self.listed($0.choices)) }, width)
    let common = inherited.filter { !$0.isRetired }.map(Self.row) + [("-h, --help", "Show this.")]
    out += Self.section("OPTIONS", options.filter { !$0.isRetired }.map(Self.row), width)
    let version = path.count == 1 ? [("    --version", "Show the version.")] : []
    out += Self.section("COMMON OPTIONS", common + version, width)
    return out.joined(separator: "\n") + "\n"
  }

  private static func row(_ option: Option) -> (String, String) {
    let short = option.short.map { "-\($0), " } ?? "    "
    let value = option.placeholder.map { " " + $0 } ?? ""
    var notes = listed(option.choices)
    if option.repeats { notes += " Repeatable." }
    if let fallback = option.fallback { notes += " [default: \(fallback)]" }
    if let variable = option.environment { notes += " [env: \(variable)]" }
    return ("\(short)--\(option.name)\(value)", option.help + notes)
  }

  private static func listed(_ choices: [String]) -> String {
    choices.isEmpty ? "" : " One of: \(choices.joined(separator: ", "))."
  }

  private static func section(_ title: String, _ rows: [(name: String, text: String)], _ width: Int) -> [String] {
    guard !rows.isEmpty else { return [] }
    let column = min(rows.map(\.name.displayWidth).max() ?? 0, 28) + 4
    return ["", title]
      + rows.flatMap { row in
        let lines = row.text.wrapped(to: width, indent: column)
        let name = "  " + row.name
        guard let first = lines.first, name.displayWidth + 2 <= column else { return [name] + lines }
        return [name.padded(to: column) + first.dropFirst(column)] + lines.dropFirst()
      }
  }
}
