private enum Mode: String, CaseIterable { case strict, lenient }

private let verify = Command(
  "verify", "Verify a signed message.", examples: [Command.Example("yard jws verify --root r.pem m.jws", "one file")],
  options: [
    .value("root", "FILE", short: "r", repeats: true, environment: "YARD_ROOT", "A trusted root."),
    .value("port", "N", short: "p", default: "8080", environment: "YARD_PORT", "The port."),
    .value("mode", "MODE", choices: Mode.allCases.map(\.rawValue), "How strictly."),
    .flag("quiet", short: "q", environment: "YARD_QUIET", "Say less."),
  ],
  arguments: [Positional("FILE", count: .any, "What to verify; - is stdin.")]
) { arguments, terminal in
  try terminal.write(arguments.positionals.joined(separator: ",") + "\n")
  return .done
}
private let show = Command(
  "show", "Show a table.", examples: ["yard show tsv name"],
  arguments: [
    Positional("KIND", choices: ["tsv", "json"], "The form."), Positional("NAME", count: .optional, "Which."),
  ]
) { _, _ in .differences }
private let yard = Command(
  "yard", "Move trains.", examples: ["yard jws verify m.jws"],
  options: [.flag("verbose", short: "v", "Say more.")],
  subcommands: [Command("jws", "Signed messages.", subcommands: [verify]), show])

private func parse(_ line: String, _ environment: [String: String] = [:]) throws -> ParsedArguments {
  let words = line.split(separator: " ").map(String.init)
  guard case .run(_, let arguments) = try yard.parse(words, environment: environment) else {
    throw UsageError(.missingCommand, "not a run", path: [])
  }
  return arguments
}

@Suite struct `A command line` {
  @Test func `finds the command and what belongs to it`() throws {
    let arguments = try parse("-v jws verify --root a.pem --root=b=c.pem -r d -qv one - two --port 80")
    #expect(arguments.path == ["yard", "jws", "verify"])
    #expect(arguments.positionals == ["one", "-", "two"])
    #expect(arguments.values("root") == ["a.pem", "b=c.pem", "d"])
    #expect(arguments.value("root") == "d")
    #expect(arguments.flag("quiet") && arguments.flag("verbose"))
    #expect(try arguments.integer("port", in: 0...65_535) == 80)
  }

  @Test func `falls back on the environment, then on the default`() throws {
    let environment = ["YARD_ROOT": "env.pem", "YARD_QUIET": "yes", "YARD_PORT": ""]
    let arguments = try parse("jws verify", environment)
    #expect(arguments.values("root") == ["env.pem"])
    #expect(arguments.flag("quiet"))
    #expect(arguments.value("port") == "8080")
    #expect(try parse("jws verify --root a", environment).values("root") == ["a"])
    #expect(try parse("jws verify", ["YARD_QUIET": "0"]).flag("quiet") == false)
    #expect(try parse("jws verify").value("mode") == nil)
  }

  @Test func `knows what it says itself from what the environment says`() throws {
    let arguments = try parse("jws verify --root a --root b", ["YARD_ROOT": "secret", "YARD_PORT": "9"])
    #expect(arguments.valuesGiven("root") == ["a", "b"] && arguments.valuesGiven("mode").isEmpty)
    #expect(arguments.value("port") == "9" && arguments.valuesGiven("port").isEmpty)
  }

  @Test func `takes everything after -- as it is`() throws {
    #expect(try parse("jws verify -- --root -q --help").positionals == ["--root", "-q", "--help"])
  }

  @Test func `takes short options in every usual form`() throws {
    #expect(try parse("jws verify -p80").value("port") == "80")
    #expect(try parse("jws verify -p 80").value("port") == "80")
    #expect(try parse("jws verify -qp80").value("port") == "80")
    #expect(try parse("jws verify --port -5").value("port") == "-5")
    #expect(try parse("jws verify --root -").value("root") == "-")
    #expect(try parse("jws verify --root=").value("root") == "")
  }

  @Test func `gives values as what they are`() throws {
    #expect(try parse("jws verify --mode lenient").choice("mode", as: Mode.self) == .lenient)
    #expect(try parse("jws verify").choice("mode", as: Mode.self) == nil)
    #expect(try parse("jws verify --root a").required("root") == "a")
  }

  @Test(
    arguments: [
      ("", .missingCommand, nil), ("jws", .missingCommand, nil), ("jsw verify", .unknownCommand, "jws"),
      ("jws verfy", .unknownCommand, "verify"), ("jws zzzzz", .unknownCommand, nil),
      ("jws verify --rot a", .unknownOption, "--root"), ("jws verify --hlep", .unknownOption, "--help"),
      ("jws verify -z", .unknownOption, nil), ("jws --root a verify", .unknownOption, nil),
      ("jws verify --root", .missingValue, nil), ("jws verify --root --quiet", .missingValue, nil),
      ("jws verify -r", .missingValue, nil), ("jws verify --quiet=1", .unexpectedValue, nil),
      ("jws verify --port 1 --port 2", .repeated, nil), ("show", .missingArgument, nil),
      ("show tsv a b", .unexpectedArgument, nil), ("show tvs", .invalidValue, "tsv"),
      ("jws verify --mode strickt", .invalidValue, "strict"), ("jws verify --version", .unknownOption, nil),
    ] as [(String, UsageError.Code, String?)])
  func `that is wrong is refused with a reason and a hint`(line: String, code: UsageError.Code, hint: String?) throws {
    let error = try #require(throws: UsageError.self) { try parse(line) }
    #expect(error.code == code)
    #expect(error.suggestion == hint)
    #expect(error.description.contains("--help"))
    #expect(error.exitStatus == .usage)
  }

  @Test func `that has a wrong value in the environment is refused`() throws {
    #expect(
      try #require(throws: UsageError.self) { try parse("jws verify", ["YARD_QUIET": "maybe"]) }.code == .invalidValue)
  }

  @Test(arguments: ["65536", "-1", "x", "", "1e3", "99999999999999999999"])
  func `gives whole numbers only within their range`(text: String) throws {
    let arguments = try parse("jws verify --port=\(text)")
    #expect(
      try #require(throws: UsageError.self) { try arguments.integer("port", in: 0...65_535) }.code == .invalidValue)
  }

  @Test func `says which option is required, and the variable that would do`() throws {
    let arguments = try parse("jws verify")
    let error = try #require(throws: UsageError.self) { try arguments.required("root") }
    #expect(error.code == .missingOption)
    #expect(error.description.contains("YARD_ROOT"))
  }

  @Test func `shows what was typed without obeying it`() throws {
    let words = ["jws", "\u{1b}[2J" + String(repeating: "x", count: 10_000)]
    let error = try #require(throws: UsageError.self) { try yard.parse(words) }
    #expect(!error.description.contains("\u{1b}"))
    #expect(error.description.utf8.count < 300)
  }

  @Test func `stops the process when our code asks for an option that is not declared`() async {
    await #expect(processExitsWith: .failure) { _ = try parse("jws verify").value("rooot") }
    await #expect(processExitsWith: .failure) { _ = try parse("jws verify").flag("root") }
    await #expect(processExitsWith: .failure) { _ = try parse("jws verify").value("quiet") }
  }
}

@Suite struct `The help` {
  private func help(_ line: String, width: Int = 80) throws -> String {
    let words = line.split(separator: " ").map(String.init)
    guard case .help(let text) = try yard.parse(words, width: width) else { return "" }
    return text
  }

  @Test func `shows examples first, then usage, arguments and options`() throws {
    #expect(
      try help("jws verify --help") == """
        yard jws verify: Verify a signed message.

        EXAMPLES
          # one file
          yard jws verify --root r.pem m.jws

        USAGE
          yard jws verify [OPTIONS] [FILE…]

        ARGUMENTS
          [FILE…]  What to verify; - is stdin.

        OPTIONS
          -r, --root FILE  A trusted root. Repeatable. [env: YARD_ROOT]
          -p, --port N     The port. [default: 8080] [env: YARD_PORT]
              --mode MODE  How strictly. One of: strict, lenient.
          -q, --quiet      Say less. [env: YARD_QUIET]

        COMMON OPTIONS
          -v, --verbose  Say more.
          -h, --help     Show this.

        """)
  }

  @Test func `lists commands, and the version on the root`() throws {
    let text = try help("-h")
    #expect(text.contains("\n  jws   Signed messages.\n  show  Show a table.\n"))
    #expect(text.contains("--version"))
    #expect(text.contains("yard [OPTIONS] COMMAND"))
  }

  @Test func `keeps to the width`() throws {
    for width in [40, 60, 100] {
      let lines = try help("jws verify --help", width: width).split(separator: "\n")
      #expect(lines.filter { $0.count > width } == [])
    }
  }

  @Test func `is also a command`() throws { #expect(try help("help jws verify") == help("jws verify --help")) }
}

@Suite struct `A command` {
  private func run(_ line: String) async -> (ExitStatus, Terminal.Recording) {
    let (terminal, recording) = Terminal.recording()
    let words = line.split(separator: " ").map(String.init)
    let status = await yard.addingCompletion().main(words, environment: [:], version: "1.2", terminal: terminal)
    return (status, recording)
  }

  @Test(arguments: [
    ("jws verify a b", ExitStatus.done, "a,b\n", ""), ("--version", .done, "yard 1.2\n", ""),
    ("show json", .differences, "", ""),
    ("show", .usage, "", "yard: Give KIND: The form.\nSee \"yard show --help\".\n"),
    (
      "shwo", .usage, "",
      "yard: There is no command \"shwo\"; there are jws, show, completion.\nDid you mean \"show\"?\nSee \"yard --help\".\n"
    ),
  ])
  func `writes data to stdout, talk to stderr, and ends with its status`(
    line: String, status: ExitStatus, output: String, notes: String
  ) async {
    let (ended, recording) = await run(line)
    #expect(ended == status)
    #expect(recording.output == output)
    #expect(recording.notes == notes)
  }

  private struct Limited: ExitStatusError, CustomStringConvertible {
    var exitStatus: ExitStatus { .externalLimit }
    var description: String { "Apple said 429" }
  }

  @Test(
    arguments: [
      (Limited(), .externalLimit, "x: Apple said 429\n"), (CancellationError(), .failed, "x: CancellationError()\n"),
      (ExitStatus.refused, .refused, ""), (Terminal.OutputError.closed, .failed, ""),
    ] as [(any Error, ExitStatus, String)])
  func `turns an error into a status`(error: any Error, status: ExitStatus, notes: String) async {
    let (terminal, recording) = Terminal.recording()
    let command = Command("x", "X.", examples: ["x"]) { _, _ in throw error }
    #expect(await command.main([], environment: [:], version: "1", terminal: terminal) == status)
    #expect(recording.notes == notes)
  }

  @Test func `in order has no problems`() { #expect(yard.addingCompletion().problems == []) }

  @Test func `is told every problem of its declaration`() {
    let bad = Command(
      "Bad", "", examples: ["other thing"],
      options: [
        .value("api-key", "KEY", "K."), .flag("help", "H."), .flag("two", short: "t", "T."),
        .flag("two", short: "t", ""),
        .flag("No_Name", "N."),
      ],
      arguments: [Positional("A", count: .any, "A."), Positional("B", "B.")]
    ) { _, _ in .done }
    let twice = Command("x", "X.", subcommands: [show, show])
    #expect(bad.problems.count == 11)
    #expect(bad.problems.contains("Bad: --api-key would show a secret in ps: take --api-key-file"))
    let unlike = Command(
      "x", "X.",
      subcommands: [
        Command("a", "A.", examples: ["x a"], options: [.flag("all", "All.")]) { _, _ in .done },
        Command("b", "B.", examples: ["x b"], options: [.value("all", "N", "So many.")]) { _, _ in .done },
      ])
    #expect(unlike.problems == ["--all means one thing in one command and another elsewhere"])
    #expect(twice.problems.contains("x: two commands have one name"))
    #expect(Command("y", "Y.") { _, _ in .done }.problems == ["y: there is no example"])
  }

  @Test func `has documented exit codes`() {
    #expect(ExitStatus.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6, 7, 130, 143])
    #expect(Set(ExitStatus.allCases.map(\.summary)).count == ExitStatus.allCases.count)
    #expect(Signal.allCases.map { ExitStatus(endedBy: $0) } == [.terminated, .interrupted, .terminated])
  }
}

@Suite struct `The completion` {
  @Test(arguments: [
    ("", ["completion", "jws", "show"]), ("j", ["jws"]), ("jws ", ["verify"]), ("-v jws ver", ["verify"]),
    ("jws verify --ro", ["--root"]), ("jws verify --mode ", ["lenient", "strict"]),
    ("jws verify --mode=l", ["lenient"]),
    ("jws verify --root jws --qu", ["--quiet"]), ("jws verify --verb", ["--verbose"]), ("show t", ["tsv"]),
    ("completion ", ["bash", "fish", "zsh"]), ("nonsense j", ["jws"]),
  ])
  func `for bash offers what fits`(typed: String, expected: [String]) async throws {
    let script = Completion(yard.addingCompletion()).script(for: .bash)
    // As readline does it: "=" is a word of its own.
    let words = typed.replacing("=", with: " = ").split(separator: " ", omittingEmptySubsequences: false)
    let quoted = words.map { "'\($0)'" }.joined(separator: " ")
    let program = """
      \(script)
      COMP_WORDS=(yard \(quoted)); COMP_CWORD=\(words.count); _yard; printf '%s\\n' "${COMPREPLY[@]}" | grep -v '^-' || true
      case '\(words.last ?? "")' in -*) printf '%s\\n' "${COMPREPLY[@]}";; esac
      """
    let offered = try bash(program).split(separator: "\n").map(String.init)
    #expect(offered.sorted() == expected)
  }

  @Test(arguments: Shell.allCases)
  func `names every command and option`(shell: Shell) {
    let script = Completion(yard.addingCompletion()).script(for: shell)
    for word in ["verify", "show", "root", "mode", "lenient", "verbose", "Signed messages."] where shell != .bash {
      #expect(script.contains(word))
    }
    #expect(script.hasSuffix("\n"))
  }

  @Test func `is printed by a command`() async {
    let (terminal, recording) = Terminal.recording()
    let root = yard.addingCompletion()
    let status = await root.main(["completion", "fish"], environment: [:], version: "1", terminal: terminal)
    #expect(status == .done)
    #expect(recording.output == Completion(root).script(for: .fish))
  }

  @Test func `cannot be broken out of by a quote in a summary`() throws {
    let root = Command("q", "Q.", subcommands: [Command("x", "It's $(false) `x`.") { _, _ in .done }])
    #expect(try bash(Completion(root).script(for: .bash) + "\necho fine") == "fine\n")
    #expect(Completion(root).script(for: .fish).contains("-d 'It’s $(false) `x`.'"))
  }
}

@Suite struct `A command with more to it` {
  private static let secret = Command("keep", "Keep it.", examples: ["yard tracks keep"], isHidden: true) { _, _ in
    .done
  }
  private static let move = Command("move", "Move it.", examples: ["yard tracks move"]) { _, _ in .done }
  private static let root = Command(
    "yard", "Move trains.", examples: ["yard tracks move"],
    subcommands: [
      Command(
        "tracks", "The tracks.", whenStopped: "What was moved stays.", examples: ["yard tracks move"],
        subcommands: [move, secret])
    ])

  @Test func `that is hidden works, and nobody is told of it`() throws {
    guard case .run = try Self.root.parse(["tracks", "keep"]) else {
      Issue.record("it does not run")
      return
    }
    guard case .help(let help) = try Self.root.parse(["tracks", "--help"]) else {
      Issue.record("no help")
      return
    }
    #expect(help.contains("move") && !help.contains("keep"))
    let error = try #require(throws: UsageError.self) { try Self.root.parse(["tracks", "kee"]) }
    #expect(!error.description.contains("keep"))
    for shell in Shell.allCases { #expect(!Completion(Self.root).script(for: shell).contains("keep")) }
    #expect(Self.root.problems == [])
  }

  @Test func `that can be stopped says so, and so do those below it`() throws {
    guard case .help(let help) = try Self.root.parse(["tracks", "move", "--help"], width: 100) else {
      Issue.record("no help")
      return
    }
    #expect(help.contains("What was moved stays."), "\(help)")
    #expect(help.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("130 or 143"), "\(help)")
    guard case .help(let group) = try Self.root.parse(["tracks", "--help"]) else { return }
    #expect(!group.contains("143"), "a group does nothing by itself")
  }
}
