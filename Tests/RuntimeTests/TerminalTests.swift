@Suite struct `The input` {
  @Test(arguments: [0, 1, 65_536, 70_000])
  func `gives the bytes of a file up to the limit, and no part of a larger one`(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let file = try TemporaryFile(bytes)
    #expect(try Input.read(file.path, limit: count) == bytes)
    if count > 0 {
      #expect(throws: Input.InputError.tooLarge(file.path, limit: count - 1)) {
        try Input.read(file.path, limit: count - 1)
      }
    }
  }

  @Test(
    arguments: [
      ("/nonexistent", .noSuchFile("/nonexistent")), ("/tmp", .isDirectory("/tmp")), ("a\0b", .noSuchFile("a\0b")),
      ("", .noSuchFile("")), ("/dev/null/x", .notReadable("/dev/null/x", reason: "Not a directory")),
      ("/proc/self/mem", .notReadable("/proc/self/mem", reason: "Input/output error")),
    ] as [(String, Input.InputError)])
  func `that cannot be read is refused with a reason`(path: String, expected: Input.InputError) {
    #expect(throws: expected) { try Input.read(path, limit: 10) }
    #expect(!expected.description.utf8.contains(0))
    #expect(expected.exitStatus == .failed)
  }

  @Test func `never ends without a limit`() {
    #expect(throws: Input.InputError.tooLarge("/dev/zero", limit: 1_000_000)) {
      try Input.read("/dev/zero", limit: 1_000_000)
    }
  }

  @Test func `is stdin when it is called -`() async {
    await #expect(processExitsWith: .success) {
      let pipe = try Pipe()
      _ = unsafe write(pipe.writing, "piped", 5)
      pipe.closeWriting()
      dup2(pipe.reading, STDIN_FILENO)
      let read = try Input.read("-", limit: 5)
      precondition(read == Array("piped".utf8))
    }
  }
}

@Suite struct `The terminal` {
  @Test(
    arguments: [
      ("plain\ttext\n\nas it is\n", "plain\ttext\n\nas it is\n"), ("", ""), ("\n", "\n"),
      ("é — 漢字 …\n", "é — 漢字 …\n"), ("\u{1B}[2J\u{7}", "\\u001b[2J\\u0007"), ("a\rb\r\n", "a\\rb\\r\n"),
      ("\u{202E}txt\u{2066}\u{200F}", "\\u202etxt\\u2066\\u200f"), ("\u{9B}31m\u{7F}", "\\u009b31m\\u007f"),
      ("\u{FEFF}x\u{2028}", "\\ufeffx\\u2028"),
    ])
  func `is shown nothing that it would obey`(text: String, shown: String) throws {
    let (terminal, recording) = Terminal.recording(isTTY: true)
    try terminal.write(text)
    try terminal.write(Array(text.utf8))
    #expect(recording.output == shown + shown)
    terminal.note(text)
    #expect(recording.notes == shown + "\n")
  }

  @Test func `is shown no byte that is not UTF-8, and a file gets every byte`() throws {
    let bytes: [UInt8] = [0x9B, 0x41, 0xFF, 0x0A, 0x00]
    let (terminal, shown) = Terminal.recording(isTTY: true)
    try terminal.write(bytes)
    #expect(shown.output == "\u{FFFD}A\u{FFFD}\n\\u0000")
    let (file, kept) = Terminal.recording()
    try file.write([0x41, 0x1B])
    #expect(kept.output == "A\u{1B}")
  }

  @Test func `keeps data and talk apart`() async throws {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
    ) {
      let terminal = Terminal.process(environment: [:])
      try terminal.write("the data\n")
      terminal.note("the talk")
    }
    #expect(String(decoding: result.standardOutputContent, as: UTF8.self).contains("the data\n"))
    #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("the talk\n"))
  }

  @Test func `says when nobody reads the data or it has no room`() async {
    await #expect(processExitsWith: .success) {
      try await ServiceGroup(services: [], logger: Logger(label: "x", handler: RecordingLogHandler())).run()
      let terminal = Terminal.process(environment: [:])
      let pipe = try Pipe()
      dup2(pipe.writing, STDOUT_FILENO)
      pipe.closeWriting()
      close(pipe.reading)
      #expect(throws: Terminal.OutputError.closed) { try terminal.write("x") }
      let full = unsafe open("/dev/full", O_WRONLY)
      dup2(full, STDOUT_FILENO)
      #expect(throws: Terminal.OutputError.failed(reason: "No space left on device")) { try terminal.write("x") }
    }
  }

  @Test func `has the width of the environment and no colour when it is not one`() async {
    await #expect(processExitsWith: .success) {
      let pipe = try Pipe()
      dup2(pipe.writing, STDOUT_FILENO)
      dup2(pipe.writing, STDERR_FILENO)
      let terminal = Terminal.process(environment: ["COLUMNS": "123"])
      precondition(terminal.width == 123 && !terminal.hasColor && !terminal.isOutputTTY)
      precondition(terminal.logFormat == .json)
      precondition(Terminal.process(environment: ["COLUMNS": "-7"]).width == 20)
      withExtendedLifetime(pipe) { exit(0) }
    }
  }

  @Test(arguments: [([:], true), (["NO_COLOR": "1"], false), (["NO_COLOR": ""], true), (["TERM": "dumb"], false)])
  func `is coloured on a TTY unless told otherwise`(environment: [String: String], expected: Bool) async {
    await #expect(processExitsWith: .success) { [environment, expected] in
      let main = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
      // TIOCSPTLCK and TIOCGPTN, which Swift does not see.
      var unlocked: Int32 = 0
      var number: Int32 = 0
      guard unsafe ioctl(main, 0x4004_5431, &unlocked) == 0 else { exit(99) }
      guard unsafe ioctl(main, 0x8004_5430, &number) == 0 else { exit(99) }
      let side = unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
      var size = winsize(ws_row: 24, ws_col: 91, ws_xpixel: 0, ws_ypixel: 0)
      guard unsafe ioctl(main, UInt(TIOCSWINSZ), &size) == 0 else { exit(98) }
      dup2(side, STDOUT_FILENO)
      dup2(side, STDERR_FILENO)
      let terminal = Terminal.process(environment: environment)
      guard terminal.isOutputTTY, terminal.width == 91, terminal.hasColor == expected else { exit(97) }
      guard terminal.logFormat == .human(color: expected) else { exit(96) }
    }
  }
}

@Suite struct `A table` {
  private var table: TextTable {
    var table = TextTable([.init("APP"), .init("LAG", .right), .init("NOTE")])
    table.add(["demo", "5", "fine"])
    table.add(["日本", "1200", "a note that goes on"])
    return table
  }

  @Test func `keeps its columns in line, wide characters included`() {
    #expect(
      table.render(.ruled) == """
        APP    LAG  NOTE
        ────  ────  ───────────────────
        demo     5  fine
        日本  1200  a note that goes on

        """)
  }

  @Test func `goes on in the next line where a terminal is too narrow for its last column`() {
    var table = table
    table.add(["demo", "7", "https://example.com/no/word/ends"])
    #expect(
      table.render(.ruled, width: 32) == """
        APP    LAG  NOTE
        ────  ────  ────────────────────
        demo     5  fine
        日本  1200  a note that goes on
        demo     7  https://example.com/
                    no/word/ends

        """)
    var words = self.table
    words.add(["demo", "9", "one two three four five six"])
    #expect(words.render(.ruled, width: 32).hasSuffix("demo     9  one two three four\n            five six\n"))
    #expect(words.render(.plain, width: 5) == words.render(.plain))
  }

  @Test func `cuts texts in the middle, but no name, no number, and no column that is whole`() {
    var table = TextTable([
      .init("APP"), .init("WHERE"), .init("PATH", isWhole: true), .init("N", .right), .init("NOTE"),
    ])
    table.add(["com.example.inkwell", "somewhere far away", "receipt.in_app[0]", "1234", "fine"])
    #expect(
      table.render(.ruled, width: 64).hasSuffix("com.example.inkwell  somewhere f…  receipt.in_app[0]  1234  fine\n"),
      "\(table.render(.ruled, width: 64))")
    #expect(
      table.render(.ruled, width: 50) == """
        com.example.inkwell
          WHERE somewhere far away  PATH receipt.in_app[0]
          N 1234  NOTE fine

        """)
    var two = table
    two.add(["com.example.quill", "near", "receipt", "5", "well"])
    let blocks = two.render(.ruled, width: 50)
    #expect(blocks.contains("  NOTE fine\n\ncom.example.quill\n") && blocks.hasSuffix("  NOTE well\n"), "\(blocks)")
    for width in 20...120 {
      let text = table.render(.ruled, width: width)
      #expect(text.split(separator: "\n").allSatisfy { String($0).displayWidth <= width }, "\(width): \(text)")
      #expect(text.contains("com.example.inkwell") && text.contains("1234") && text.contains("in_app[0]"), "\(text)")
    }
  }

  @Test func `is plain in a pipe and when told so`() {
    let (pipe, _) = Terminal.recording(width: 20)
    let (tty, _) = Terminal.recording(width: 20, isTTY: true)
    #expect(table.render(for: pipe) == table.render(.plain))
    #expect(table.render(for: tty, plain: true) == table.render(.plain))
    #expect(table.render(for: tty) == table.render(.ruled, width: 20))
    #expect(!table.render(.plain).contains("─"))
  }

  @Test func `escapes what would leave its cell`() {
    var table = TextTable([.init("A")])
    table.add(["x\ny\u{1b}[2J"])
    #expect(table.render(.plain) == "A\nx\\ny\\u001b[2J\n")
  }

  @Test(arguments: [("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("🚂", 2), ("☀️", 2), ("ｆ", 2), ("한", 2)])
  func `knows how wide text is`(text: String, width: Int) { #expect(text.displayWidth == width) }
}
