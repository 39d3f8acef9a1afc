@Suite struct `A log sink` {
  @Test func `keeps lines whole when many write at once`() async throws {
    let pipe = try Pipe()
    let sink = LogSink(descriptor: pipe.writing, patience: 10_000)
    let lines = 8 * 500
    // A thread for the reader: it blocks, and Swift's threads are busy writing.
    let reader = Task.detached { () -> [UInt8] in
      await withCheckedContinuation { continuation in
        DispatchQueue(label: "reader").async {
          var all: [UInt8] = []
          while all.count(where: { $0 == 0x0a }) < lines { all += pipe.read(65_536) }
          continuation.resume(returning: all)
        }
      }
    }
    await withTaskGroup { group in
      for letter in UInt8(ascii: "a")..<UInt8(ascii: "a") + 8 {
        group.addTask {
          for _ in 0..<500 { #expect(sink.write(Array(repeating: letter, count: 99) + [0x0a]) == 0) }
        }
      }
    }
    let written = await reader.value.split(separator: 0x0a)
    #expect(written.count == lines)
    #expect(written.allSatisfy { $0.count == 99 && Set($0).count == 1 })
  }

  @Test func `drops lines rather than wait for a reader that does not read, and counts them`() throws {
    let pipe = try Pipe()
    let sink = LogSink(descriptor: pipe.writing, patience: 1)
    let line = [UInt8](repeating: 0x78, count: 1_023) + [0x0a]
    var taken = 0
    while sink.write(line) != nil { taken += 1 }
    #expect(taken > 0)
    #expect(sink.write(line) == nil)
    _ = pipe.read(8_192)
    #expect(sink.write(line) == 2)
    #expect(sink.write(line) == 0)
  }

  @Test func `says how many were dropped when the reader is back`() throws {
    let pipe = try Pipe()
    let sink = LogSink(descriptor: pipe.writing, patience: 1)
    let logger = Logger(label: "x", handler: StreamLogHandler(to: sink, clock: nil, format: .human(color: false)))
    while sink.write([UInt8](repeating: 0x2d, count: 1_023) + [0x0a]) != nil {}
    logger.info("lost")
    _ = pipe.read(65_536)
    logger.info("kept")
    let lines = pipe.closeAndRead().split(separator: "\n").filter { !$0.hasPrefix("-") }
    #expect(lines == ["info  [x] kept", "warning [log] lines were dropped because they were not read count=2"])
  }

  @Test func `ends a torn line before the next one`() throws {
    let pipe = try Pipe()
    let sink = LogSink(descriptor: pipe.writing, patience: 1)
    #expect(sink.write([UInt8](repeating: 0x78, count: Pipe.capacity + 1) + [0x0a]) == nil)
    _ = pipe.read(Pipe.capacity)
    #expect(sink.write(Array("next\n".utf8)) == 1)
    #expect(pipe.closeAndRead() == "\nnext\n")
  }
}
