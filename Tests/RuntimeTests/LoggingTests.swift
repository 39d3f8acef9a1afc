@Suite struct `A logger` {
  private let handler = RecordingLogHandler()

  @Test func `writes what reaches its level and evaluates nothing below it`() {
    var logger = Logger(label: "intake", handler: handler)
    func costly() -> Logger.Metadata { Issue.record("evaluated below the level"); return [:] }
    logger.debug("hidden", metadata: costly())
    logger.notice("shown")
    logger.logLevel = .error
    logger.warning("hidden too", metadata: costly())
    #expect(handler.messages == ["shown"])
  }

  @Test func `merges metadata, the call's value winning, without touching other copies`() {
    let logger = Logger(label: "intake", handler: handler)
    var copy = logger
    copy[metadataKey: "app"] = "demo"
    copy[metadataKey: "kind"] = "V1"
    copy.info("one", metadata: ["kind": "V2"])
    logger.info("two")
    #expect(handler.records.map(\.metadata) == [["app": "demo", "kind": "V2"], [:]])
    #expect(copy[metadataKey: "app"] == "demo")
  }

  @Test func `has a method for each level, in rising order`() {
    let logger = Logger(label: "x", level: .trace, handler: handler)
    logger.trace("")
    logger.debug("")
    logger.info("")
    logger.notice("")
    logger.warning("")
    logger.error("")
    logger.critical("")
    #expect(handler.records.map(\.level) == Logger.Level.allCases)
    #expect(Logger.Level.allCases.sorted() == Logger.Level.allCases)
  }
}

@Suite struct `A log line` {
  private static let clock = WallClock.fixed(at: Timestamp(1_795_221_948_123))

  private func line(
    _ format: LogFormat, label: String = "intake", _ message: Logger.Message = "stored",
    _ metadata: Logger.Metadata = [:], clock: WallClock? = Self.clock
  ) throws -> String {
    let pipe = try Pipe()
    let handler = StreamLogHandler(to: LogSink(descriptor: pipe.writing), clock: clock, format: format)
    Logger(label: label, handler: handler).info(message, metadata: metadata)
    return pipe.closeAndRead()
  }

  @Test func `has time, level, label, message and sorted metadata for a person`() throws {
    let line = try line(.human(color: false), "stored", ["kind": "V2", "app": "demo"])
    #expect(line == "2026-11-21T00:45:48.123Z info  [intake] stored app=demo kind=V2\n")
  }

  @Test func `always shows milliseconds`() throws {
    let clock = WallClock.fixed(at: Timestamp(1_795_221_948_000))
    #expect(try line(.human(color: false), clock: clock).hasPrefix("2026-11-21T00:45:48.000Z "))
  }

  @Test func `is coloured only when asked`() throws {
    #expect(try line(.human(color: true)).contains("\u{1b}[32minfo\u{1b}[0m"))
    #expect(!(try line(.human(color: false)).contains("\u{1b}")))
  }

  @Test func `is one JSON object for a collector`() throws {
    let line = try line(.json, "stored", ["app": "a\"b\\c\nd", "list": ["1", ["k": "v"]]])
    let object = try #require(JSONReader.read(Array(line.utf8)).object)
    #expect(object["time"]?.string == "2026-11-21T00:45:48.123Z")
    #expect(object["level"]?.string == "info")
    #expect(object["logger"]?.string == "intake")
    #expect(object["message"]?.string == "stored")
    #expect(object["metadata"]?.object?["app"]?.string == "a\"b\\c\nd")
    #expect(object["metadata"]?.object?["list"]?.array?.last?.object?["k"]?.string == "v")
  }

  @Test(arguments: [
    ("", #"v="""#), ("two words", #"v="two words""#), ("a=b", #"v="a=b""#), ("q\"\\", #"v="q\"\\""#),
    ("x\ny\r\tz", #"v="x\ny\r\tz""#), ("\u{1b}[31m", #"v="\u001b[31m""#), ("\u{9b}2J", #"v="\u009b2J""#),
    ("\u{202e}abc", #"v="\u202eabc""#), ("a\u{2028}b", #"v="a\u2028b""#), ("é日", #"v="é日""#),
    ("plain-1.0", "v=plain-1.0"),
  ])
  func `cannot be forged by a value`(value: String, expected: String) throws {
    let human = try line(.human(color: false), "m", ["v": .string(value)])
    #expect(human.hasSuffix("] m \(expected)\n"))
    let json = try line(.json, "m", ["v": .string(value)])
    #expect(try JSONReader.read(Array(json.utf8)).object?["metadata"]?.object?["v"]?.string == value)
    #expect(json.utf8.count { $0 < 0x20 } == 1)
  }

  @Test func `cannot be forged by its message, label or keys`() throws {
    for format in [LogFormat.human(color: false), .json] {
      let line = try line(format, label: "a\nb", "c\nd\u{1b}", ["e\nf": "g"])
      #expect(line.utf8.count { $0 < 0x20 } == 1)
      if format == .json { _ = try JSONReader.read(Array(line.utf8)) }
    }
  }

  @Test func `cuts what is long, between characters`() throws {
    let long = String(repeating: "é", count: 3_000)
    let json = try line(.json, "\(long)", ["v": .string(long)])
    let object = try #require(JSONReader.read(Array(json.utf8)).object)
    #expect(object["message"]?.string == String(repeating: "é", count: 2_048) + "…")
    #expect(object["metadata"]?.object?["v"]?.string == String(repeating: "é", count: 512) + "…")
  }

  @Test func `cuts what is deep or wide`() throws {
    var deep: Logger.MetadataValue = "bottom"
    for _ in 0..<100 { deep = [deep] }
    let wide = Logger.MetadataValue.array(Array(repeating: "x", count: 1_000))
    let object = Logger.MetadataValue.dictionary(
      Dictionary(uniqueKeysWithValues: (0..<1_000).map { ("k\($0)", .string("x")) }))
    let json = try line(.json, "m", ["deep": deep, "wide": wide, "object": object])
    #expect(json.utf8.count < 3_000)
    let metadata = try JSONReader.read(Array(json.utf8)).object?["metadata"]?.object
    #expect(metadata?["wide"]?.array?.last?.string == "…")
    #expect(metadata?["object"]?.object?["…"]?.string == "…")
    #expect(!json.contains("bottom"))
  }
}
