/// What is wrong with a command line, and what to do about it; ends with exit status 2.
package struct UsageError: ExitStatusError, Equatable, CustomStringConvertible {
  package enum Code: String, Sendable, CaseIterable {
    case unknownCommand, missingCommand, unknownOption, missingValue, unexpectedValue, repeated, missingArgument,
      unexpectedArgument, invalidValue, missingOption
  }

  package let code: Code
  package let detail: String
  /// What was probably meant.
  package let suggestion: String?
  /// The command as far as it was understood: `["switchyard", "jws"]`.
  package let path: [String]

  package init(_ code: Code, _ detail: String, suggestion: String? = nil, path: [String]) {
    self.code = code
    self.detail = detail
    self.suggestion = suggestion
    self.path = path
  }

  package var exitStatus: ExitStatus { .usage }

  package var description: String {
    let hint = suggestion.map { "\nDid you mean \"\($0)\"?" } ?? ""
    return "\(detail)\(hint)\nSee \"\(path.joined(separator: " ")) --help\"."
  }

  /// What a person typed, fit to be shown.
  package static func shown(_ text: String) -> String { "\"\(SafeText.escaped(text, limit: 80))\"" }
}

/// Finds what was probably meant.
package enum Suggestion {
  /// The candidate nearest to `typed`, if it is near: one slip in three letters, or the beginning of only one.
  package static func nearest(to typed: String, among candidates: [String]) -> String? {
    let typed = String(typed.prefix(40))
    let ranked = candidates.map { (name: $0, distance: distance(typed, $0)) }.sorted { $0.distance < $1.distance }
    if let best = ranked.first, best.distance <= max(1, min(typed.count, best.name.count) / 3) { return best.name }
    let begun = candidates.filter { typed.count >= 2 && $0.hasPrefix(typed) }
    return begun.count == 1 ? begun[0] : nil
  }

  /// Insertions, deletions, changes and swaps of neighbours that make one of the other (optimal string alignment).
  static func distance(_ first: String, _ second: String) -> Int {
    let a = Array(first)
    let b = Array(second)
    var before: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        let change = last[j] + (a[i] == b[j] ? 0 : 1)
        var least = min(change, last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, before[j - 1] + 1) }
        row.append(least)
      }
      before = last
      last = row
    }
    return last[b.count]
  }
}
