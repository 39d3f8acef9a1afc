import Foundation

/// A Swift file of the repository, as text.
struct SourceFile: Sendable {
  /// A line without what follows `//`.
  struct Line: Sendable {
    let number: Int
    let text: String
    /// Its identifiers, keywords and numbers.
    let words: [String]
  }

  /// From the repository's root: `Sources/Ledger/Ledger.swift`.
  let path: String
  /// As written, comments included.
  let lines: [String]
  let code: [Line]

  private init(path: String, text: String) {
    self.path = path
    lines = text.components(separatedBy: "\n")
    code = lines.enumerated().map { number, line in
      let text = line.components(separatedBy: "//")[0]
      let words = text.utf8.split { byte in
        !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) && byte != UInt8(ascii: "_")
          && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      }
      return Line(number: number + 1, text: text, words: words.map { String(decoding: $0, as: UTF8.self) })
    }
  }

  /// The target it belongs to: `Ledger`; `switchyard`; `Mappings`.
  var module: String {
    let parts = path.split(separator: "/").map(String.init)
    return parts[0] == "Mappings" || parts[0] == "Benchmarks" ? parts[0] : parts[1]
  }

  /// The modules of its import statements, whatever stands before and after the module's name.
  var imports: [String] {
    let kinds: Set<String> = ["struct", "enum", "class", "func", "protocol", "actor", "typealias"]
    let before: Set<String> = ["public", "package", "internal", "fileprivate", "private", "testable", "preconcurrency"]
    return code.compactMap { line in
      guard let place = line.words.firstIndex(of: "import"), line.words[..<place].allSatisfy(before.contains) else {
        return nil
      }
      return line.words[(place + 1)...].first { !kinds.contains($0) }
    }
  }

  /// `path:line: text` of every line of code that `isFound` is true of.
  func lines(where isFound: (Line) -> Bool) -> [String] {
    code.filter(isFound).map { "\(path):\($0.number): \($0.text)" }
  }

  /// Every Swift file below these folders of the repository.
  static func all(below folders: String...) -> [SourceFile] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL.path
    return folders.flatMap { folder -> [SourceFile] in
      let names = FileManager.default.enumerator(atPath: "\(root)/\(folder)")?.compactMap { $0 as? String } ?? []
      return names.filter { $0.hasSuffix(".swift") }.sorted().map { name in
        let text = (try? String(contentsOfFile: "\(root)/\(folder)/\(name)", encoding: .utf8)) ?? ""
        return SourceFile(path: "\(folder)/\(name)", text: text)
      }
    }
  }

  static let sources = all(below: "Sources", "Mappings")
  static let everything = sources + all(below: "Benchmarks", "Tests")
}
