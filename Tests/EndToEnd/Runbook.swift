/// A page of `runbooks/` or `docs/`, as its code blocks: what an operator types.
struct Runbook {
  /// The headings every page has, in their order.
  static let headings = ["Check", "Do", "Verify", "Back out", "If not"]

  let headings: [String]
  /// The blocks marked `sh`, each with its heading.
  ///
  /// The block of examples has an empty heading.
  let blocks: [(heading: String, commands: String)]
  /// Whether there are blocks that are not marked so: what stands in them nobody tries.
  let hasUntyped: Bool

  /// - Parameter name: of a page of `runbooks/`.
  init(_ name: String) throws { try self.init(page: "runbooks/\(name).md") }

  /// - Parameter page: below the project.
  init(page: String) throws {
    // …/Tests/EndToEnd/Runbook.swift
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    guard let bytes = Files.contents(of: "\(root)/\(page)", limit: 1 << 20) else {
      throw Missing(page: page)
    }
    var (headings, blocks): ([String], [(heading: String, commands: String)]) = ([], [])
    var (block, isOther, hasUntyped): ([Substring]?, Bool, Bool) = (nil, false, false)
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
      let text = line.drop { $0 == " " }
      if let lines = block {
        if text.hasPrefix("```") {
          blocks.append((headings.last ?? "", lines.joined(separator: "\n")))
          block = nil
        } else {
          block = lines + [text]
        }
      } else if text == "```sh", !isOther {
        block = []
      } else if text.hasPrefix("```") {
        isOther.toggle()
        hasUntyped = true
      } else if line.hasPrefix("## ") {
        headings.append(String(line.dropFirst(3)))
      }
    }
    (self.headings, self.blocks, self.hasUntyped) = (headings, blocks, hasUntyped)
  }

  struct Missing: Error {
    let page: String
  }

  /// Returns the commands of a block: a line each, except for a loop or a condition, which ends with its closing word.
  static func commands(_ block: String) -> [String] {
    var (commands, lines, depth): ([String], [Substring], Int) = ([], [], 0)
    for line in block.split(separator: "\n") {
      lines.append(line)
      let first = line.drop { $0 == " " }.prefix { $0 != " " }
      if ["for", "until", "while", "if"].contains(first) { depth += 1 }
      if ["done", "fi"].contains(first) || line.hasSuffix("; done") { depth -= 1 }
      guard depth == 0, line.last != "\\" else { continue }
      commands.append(lines.joined(separator: "\n"))
      lines = []
    }
    return commands
  }

  /// The block that names what is only an example, its values replaced by those of a test.
  ///
  /// - Returns: nil if the block has anything else than assignments, or a name without a value.
  static func filled(_ block: String, with values: [String: String]) -> String? {
    var lines: [String] = []
    for line in block.split(separator: "\n") {
      let name = String(line.prefix { $0 != "=" })
      guard name.count < line.count, let value = values[name] else { return nil }
      lines.append("\(name)='\(value)'")
    }
    return lines.count == values.count ? lines.joined(separator: "\n") : nil
  }
}

extension Runbook {
  private static let mark: Character = "\u{1E}"

  /// Types all blocks in one shell, with `values` in place of the page's examples; every command must be in one of them.
  ///
  /// - Parameters:
  ///   - directory: where it is typed.
  ///   - preamble: what the shell needs to know beside the page's own words, as whose signatures count.
  ///   - times: how often a block is typed.
  /// - Returns: what each block printed, the first left out.
  func type(
    _ values: [String: String], _ program: Program, in directory: String, after preamble: String = "",
    within limit: Interval = Program.limit, times: (_ block: String) -> Int = { _ in 1 }
  ) async throws -> [String] {
    #expect(headings == Self.headings)
    #expect(!hasUntyped, "every command is in a block that is typed")
    let first = try #require(blocks.first)
    let examples = try #require(Self.filled(first.commands, with: values), "other values are asked for")
    let rest = blocks.dropFirst().flatMap { Array(repeating: $0.commands, count: times($0.commands)) }
    let script = ([examples] + rest).map { "printf '\(Self.mark)'\n\($0)\n" }.joined()
    let outcome = try await program.shell("cd '\(directory)'\n\(preamble)\n" + script, within: limit)
    #expect(outcome.status == 0, "\(outcome)")
    let printed = outcome.output.split(separator: Self.mark, omittingEmptySubsequences: false).dropFirst(2)
    try #require(printed.count == rest.count, "\(outcome)")
    return printed.map(String.init)
  }
}

extension Program {
  /// What a shell makes of `script`, `switchyard` in it being this program.
  ///
  /// - Parameter limit: after that it is killed.
  func shell(_ script: String, within limit: Interval = Self.limit) async throws -> Outcome {
    let place = TemporaryDirectory()
    try write(Array((TypingShell.hurry + script).utf8), to: "\(place.path)/input")
    let words = ["--norc", "-eu", "-o", "pipefail", "-s"]
    let id = try spawn(words, place.path, path: "/bin/bash", searching: [Self.folder])
    let status = await Self.ended(id, within: limit)
    return Outcome(status: status, output: Self.text("\(place.path)/output"), notes: Self.text("\(place.path)/notes"))
  }
}
