@Suite struct `A bulk extraction` {
  @Test func `keeps the order of the input, takes each receipt once, and its accounts balance`() async throws {
    // Some megabytes, so that there are more blocks than may wait.
    let numbers = (0..<600).map { ($0 * 7 + $0 / 60) % 60 }
    let text = numbers.map { "\(Bench.receipts[$0])\n" }.joined() + "n/a!\n"
    for window in [1, 2, 9] {
      let outcome = try await Bench.extract(text) { $0.window = window }
      #expect(outcome.accounts.rows == 601)
      #expect(outcome.accounts.usable == 60)
      #expect(outcome.accounts.duplicates == 540)
      #expect(outcome.reasons == ["notBase64": 1])
      var first: [Int: Int] = [:]
      for (line, number) in numbers.enumerated() where first[number] == nil { first[number] = line + 1 }
      #expect(try outcome.lines.map { $0["line"]?.integer } == first.values.sorted().map { Int64($0) })
    }
  }

  @Test func `writes tables that can be read`() async throws {
    let outcome = try await Bench.extract(`An input`.Form.named.text(0..<5)) { $0.format = .csv }
    let rows = outcome.output.split(separator: "\n")
    #expect(rows.count == 6)
    #expect(
      rows[0] == "file,line,app,userId,kind,verified,reason,bundleId,environment,receiptType,createdAt,"
        + "originalTransactionIds,purchases")
    let fields = rows[1].split(separator: ",", maxSplits: 12, omittingEmptySubsequences: false)
    let customer = Bench.customers[0]
    #expect(fields[1...4] == ["2", "\(customer.state.app.bundleID)", "\(customer.state.userID)", "app"])
    #expect(Set(fields[11].split(separator: " ").map { String($0) }) == Set(customer.originalTransactionIDs))
    let purchases = fields[12].dropFirst().dropLast().replacing("\"\"", with: "\"")
    #expect(try JSONReader.read(Array(purchases.utf8)).array?.count == customer.purchases.count)
  }

  @Test func `stops where it is asked to, with whole lines`() async throws {
    let place = TemporaryDirectory()
    let text = String(repeating: Bench.table(0..<60), count: 12)
    try OutputFile("\(place.path)/input").write(Array(text.utf8))
    let counter = Counter()
    let outcome = try await Bench.extract(at: "\(place.path)/input", isStopped: { counter.next() > 6 })
    #expect(outcome.accounts.rows > 0)
    #expect(outcome.accounts.rows < 720)
    #expect(try outcome.lines.count == outcome.accounts.usable)
  }

  private final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
  }

  @Test func `ends with the error of its output`() async throws {
    struct Full: Error {}
    let place = TemporaryDirectory()
    try OutputFile("\(place.path)/input").write(Array(Bench.receipts[0].utf8))
    let progress = ExtractionProgress()
    let input = try InputReader("\(place.path)/input", progress: progress)
    await #expect(throws: Full.self) {
      try await Extraction(reader: Bench.reader, settings: Extraction.Settings()).run(
        input, to: Extraction.Sinks(output: { _ in throw Full() }), progress: progress)
    }
    #expect(progress.figures.accounts.rows == 0, "nothing is counted that was not written")
  }

  @Test func `says what it cannot open`() {
    #expect(throws: FileError.self) { try InputReader("/nowhere/at/all", progress: ExtractionProgress()) }
  }

  @Test func `tells how far it is`() async throws {
    var figures = ExtractionProgress.Figures()
    figures.bytesInAll = 1_000
    figures.bytesRead = 250
    #expect(figures.line(after: .seconds(2)) == "0 rows, 0/s, 0 rejected, 0 duplicates")
    let place = TemporaryDirectory()
    try OutputFile("\(place.path)/input").write(Array(Bench.table(0..<60).utf8))
    let progress = ExtractionProgress()
    let input = try InputReader("\(place.path)/input", progress: progress)
    _ = try await Extraction(reader: Bench.reader, settings: Extraction.Settings()).run(
      input, to: Extraction.Sinks(output: { _ in }), progress: progress)
    figures = progress.figures
    #expect(figures.line(after: .seconds(2)) == "60 rows read to the end, 30/s, 0 rejected, 0 duplicates")
    figures.isReadToEnd = false
    figures.bytesRead /= 4
    #expect(figures.line(after: .seconds(2)).hasPrefix("60 of ~24"))
    #expect(figures.line(after: .seconds(2)).contains("30/s, ~6 s left"))
    #expect(figures.format == "csv")
  }
}

@Suite struct `The table of digests` {
  @Test func `is a set`() {
    var random = SeededRandom(seed: 3)
    var table = DigestTable()
    var set: Set<ReceiptDigest> = []
    let digests = (0..<8_000).map { number in
      // All in a few of the shards, so that these grow and wrap.
      ReceiptDigest([UInt8(number % 3)] + (0..<15).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    }
    for _ in 0..<20_000 {
      let digest = digests[Int(random.next() % 8_000)]
      if table.contains(digest) != set.contains(digest) { Issue.record("\(digest) is in one of them") }
      if table.insert(digest) != set.insert(digest).inserted { Issue.record("\(digest) was in one of them") }
    }
    #expect(table.count == set.count)
    let zero = ReceiptDigest([UInt8](repeating: 0, count: 16))
    #expect(table.insert(zero) == !set.contains(zero))
  }
}
