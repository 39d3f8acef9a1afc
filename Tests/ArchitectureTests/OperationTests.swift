import Testing

/// Files of the command line that still change rows by themselves; the list may only shrink.
private let toMove: [String] = [
  // What Apple answered to `switchyard api` is taken in, as the service takes in what it asked for.
  "Sources/switchyard/API/LedgerCatchUp.swift"
]

@Suite struct `The command line` {
  private let files = SourceFile.all(below: "Sources/switchyard")

  /// Words that begin a statement which changes rows, where a literal begins or a line of one.
  private static func changesRows(_ line: SourceFile.Line) -> Bool {
    let verbs = ["INSERT ", "UPDATE ", "DELETE ", "REPLACE ", "TRUNCATE "]
    let text = line.text.drop { $0 == " " || $0 == "\t" }
    return verbs.contains { text.hasPrefix($0) || line.text.contains("\"\($0)") }
  }

  @Test func `writes nothing to the audit and no row: that is for Operations`() {
    #expect(files.count > 60)
    let wrong = files.flatMap { file in
      file.lines { line in
        line.words.contains("AuditTable") && line.words.contains("note") || Self.changesRows(line)
      }
    }
    #expect(wrong == [])
  }

  @Test func `begins no transaction, but where it still has to move`() {
    let found = Set(
      files.filter { !$0.lines { $0.text.contains(".transaction") && $0.text.contains("session") }.isEmpty }
        .map(\.path))
    #expect(found.subtracting(toMove) == [], "what changes rows belongs in Sources/Operations")
    #expect(Set(toMove).subtracting(found) == [], "no longer needed here")
  }
}
