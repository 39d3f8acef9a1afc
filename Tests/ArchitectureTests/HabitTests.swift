import Support
import Testing

/// Tasks without a parent, and why each may be.
private let orphans: [(path: String, because: String)] = [
  ("Sources/Runtime/Lifecycle/Service.swift", "the cancellation shield, which awaits it in the same expression"),
  ("Sources/Runtime/CommandLine/CommandStop.swift", "a signal cancels it from a thread that is not Swift's"),
  ("Sources/Intake/Registry.swift", "one reading of the directory is shared by all who wait for it"),
  ("Sources/Runtime/SharedWork.swift", "what several want at one time is done once, and is nobody's child"),
  ("Sources/Answering/InTime.swift", "who waits leaves when the time is over, whatever hangs"),
  ("Sources/Service/Routes/ReceiptAnswers.swift", "a client leaves before a slow commit that was begun for it"),
  ("Sources/Service/Routes/PostedReceipts.swift", "a client has its answer before its receipt is looked at"),
]

/// What asks the process for its environment on behalf of the executable, which alone may name it.
///
/// In Runtime because `getenv` is C, and C needs `unsafe`.
private let environmentSources: [String: String] = [
  "ProcessEnvironment": "Sources/Runtime/CommandLine/ProcessEnvironment.swift",
  "OperatingSystemUser": "Sources/Runtime/System/OperatingSystemUser.swift",
]

/// Where an environment that was handed in is looked at: nobody here asks the process for it.
private let environmentReaders = "Sources/Runtime/CommandLine/"

@Suite(.computesForLong) struct `The code` {
  private let sources = SourceFile.sources
  private let everything = SourceFile.everything

  private func found(_ words: Set<String>, except: (SourceFile) -> Bool = { _ in false }) -> [String] {
    sources.filter { !except($0) }.flatMap { $0.lines { $0.words.contains(where: words.contains) } }
  }

  private func found(text: String, except: (SourceFile) -> Bool = { _ in false }) -> [String] {
    sources.filter { !except($0) }.flatMap { $0.lines { $0.text.contains(text) } }
  }

  @Test func `reads the environment in the executable alone`() {
    let asked = found(["ProcessInfo", "getenv", "secure_getenv", "environ"]) { file in
      file.module == "switchyard" || environmentSources.values.contains(file.path)
    }
    #expect(asked == [])
    let named = found(Set(environmentSources.keys)) { file in
      file.module == "switchyard" || environmentSources.values.contains(file.path)
    }
    #expect(named == [])
    #expect(found(text: "CommandLine.arguments") { $0.module == "switchyard" } == [])
    let read = found(text: "environment[") { $0.module == "switchyard" || $0.path.hasPrefix(environmentReaders) }
    #expect(read == [])
  }

  @Test(arguments: ["Date()", "Date.now", "fatalError(", "try!", "as!", "Task.detached"])
  func `is handed the time, forces nothing, lets no task go`(text: String) {
    let first = text.prefix { $0.isLetter }
    let uses = sources.flatMap { file in
      file.lines { line in line.words.contains(String(first)) && line.text.contains(text) }
    }
    #expect(uses == [])
  }

  @Test func `starts no task without a parent, but for those with a reason`() {
    let found = Set(sources.filter { !$0.lines(where: Self.startsTask).isEmpty }.map(\.path))
    #expect(found.subtracting(orphans.map(\.path)) == [], "a task without a parent needs its reason in this test")
    let here = Set(sources.map(\.path))
    #expect(orphans.map(\.path).filter { here.contains($0) && !found.contains($0) } == [], "no longer needed here")
  }

  /// `Task {`, `Task<…> {`, `Task(priority: …) {`: not `addTask {`, `Task.isCancelled` or `Task<Void, Never>?`.
  private static func startsTask(_ line: SourceFile.Line) -> Bool {
    guard line.words.contains("Task"), let start = line.text.firstRange(of: "Task") else { return false }
    let rest = line.text[start.upperBound...].drop { $0 == " " }
    return rest.hasPrefix("{") || rest.hasPrefix("(") || (rest.hasPrefix("<") && rest.contains("> {"))
  }

  /// Optimised by Swift 6.3, a closure with `do throws(…) { return (a, try await b()) }` returns something else than `a`:
  /// debug builds, and so the tests, do not show it.
  @Test func `returns no tuple around a call that throws a type`() {
    let wrong = everything.flatMap { file in
      file.lines { line in
        guard let start = line.text.firstRange(of: "return ("), line.text[start.upperBound...].contains("try await")
        else { return false }
        return file.code[max(0, line.number - 2)..<line.number].contains { $0.text.contains("do throws(") }
      }
    }
    #expect(wrong == [])
  }

  @Test func `says why where the compiler is asked to look away`() {
    let silent = sources.flatMap { file in
      file.lines { line in
        guard
          line.text.contains("@unchecked") || line.text.contains("(unsafe)") || line.text.contains("@preconcurrency")
        else { return false }
        return !file.lines[max(0, line.number - 9)..<line.number].contains {
          $0.contains("//") && $0.contains("because")
        }
      }
    }
    #expect(silent == [])
  }

  @Test func `is unsafe only beside C and the operating system`() {
    let modules: Set<String> = [
      "Signing", "HTTPClient", "HTTPServer", "Database", "Runtime", "Simulator", "Compression", "Backfill",
      "switchyard",
    ]
    #expect(found(["unsafe"]) { modules.contains($0.module) } == [])
  }

  @Test func `is in short files, named for what is in them`() {
    #expect(everything.filter { $0.lines.count > 400 }.map { "\($0.path): \($0.lines.count) lines" } == [])
    let vague = ["Util", "Utils", "Utilities", "Helper", "Helpers", "Manager", "Managers"]
    func isVague(_ name: String) -> Bool { vague.contains { name.hasSuffix($0) } }
    let files = everything.filter {
      $0.path.dropLast(".swift".count).split(separator: "/").contains { isVague(String($0)) }
    }
    #expect(files.map(\.path) == [])
    let kinds: Set<String> = ["class", "struct", "enum", "actor", "protocol", "typealias"]
    let declared = everything.flatMap { file in
      file.lines { line in zip(line.words, line.words.dropFirst()).contains { kinds.contains($0) && isVague($1) } }
    }
    #expect(declared == [])
  }

  @Test func `has no placeholder beside what it held the place of`() {
    let folders = Dictionary(grouping: everything) { $0.path.split(separator: "/").dropLast().joined(separator: "/") }
    let stale = folders.values.filter { $0.count > 1 }.joined().filter { $0.path.hasSuffix("/Module.swift") }.map(
      \.path)
    #expect(stale == [])
  }

  @Test func `names no place of one machine and holds no key`() {
    let others = everything.filter { !$0.path.hasPrefix("Tests/ArchitectureTests/") }
    // How the base64 of P-256 and RSA keys begins, in PKCS #8 and as OpenSSL writes them by itself.
    for text in [
      "\"/root/", "\"/work/", "\"/home/", "\"/Users/", "MIGHAgEA", "MHcCAQEE", "MIIEvQIBADAN", "MIIEpAIBAAK",
    ] {
      #expect(others.flatMap { $0.lines { $0.text.contains(text) } } == [])
    }
  }
}
