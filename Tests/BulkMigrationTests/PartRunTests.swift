@testable import BulkMigration

@Suite(.timeLimit(.minutes(5))) struct `The reading of a part` {
  /// What a run asked for and wrote.
  private final class Record: Sendable {
    private struct State {
      var asked = 0
      var steps: [MigrationStep] = []
      var underWay = 0
      var mostUnderWay = 0
    }

    private let state = Mutex(State())

    /// Rows of a table that were about to be read.
    var asked: Int { state.withLock { $0.asked } }
    /// Those that were written, and the one that is.
    var steps: [MigrationStep] { state.withLock { $0.steps } }
    var mostUnderWay: Int { state.withLock { $0.mostUnderWay } }

    func ask(_ rows: Int) { state.withLock { $0.asked += rows } }

    /// The number of the step, from 1.
    func begin(_ step: MigrationStep) -> Int {
      state.withLock { state in
        state.steps.append(step)
        state.underWay += 1
        state.mostUnderWay = max(state.mostUnderWay, state.underWay)
        return state.steps.count
      }
    }

    func end() { state.withLock { $0.underWay -= 1 } }
  }

  private struct Refused: Error {}

  private let place = TemporaryDirectory()
  private let part = MigrationPart(
    job: 1, number: 1, source: "", sealed: nil, size: nil, place: .start, owner: [])

  private static func run(
    _ record: Record, take: @escaping @Sendable (_ number: Int) async throws -> MigrationStep.Outcome
  ) -> PartImport {
    let judge = RowClassifier(
      intake: IngestDecider(adapter: MessageDecoder(verifier: SignedDataVerifier(roots: .apple))),
      directory: AppRegistrySnapshot(apps: [], tokens: [:]),
      claims: RowClassifier.JobDefaults(app: nil, environment: nil, receivedAt: Timestamp(1)))
    return PartImport(
      judge: judge,
      means: PartImport.Dependencies(
        take: { step in
          let number = record.begin(step)
          defer { record.end() }
          return try await take(number)
        }, await: { record.ask($0) }),
      window: 3)
  }

  /// Of so many ids, of which nobody says the app.
  private func file(of ids: Int) throws -> SourceReader {
    let path = "\(place.path)/ids.txt"
    try OutputFile(path).write([[UInt8]](repeating: Array("1000000000000001\n".utf8), count: ids).flatMap { $0 })
    return .files(try FileBatches(FileSource(path: path, isFolder: false, size: nil), from: .start))
  }

  /// Steps follow each other without a gap, and the last one alone says that it is.
  private func expectWhole(_ steps: [MigrationStep], rows: Int) {
    #expect(steps.reduce(0) { $0 + $1.rows.count } == rows)
    #expect(steps.first?.part.place == .start)
    #expect(zip(steps, steps.dropFirst()).allSatisfy { $1.part.place == $0.end && $0.bytesRead <= $1.bytesRead })
    #expect(steps.last?.isLast == true && steps.count { $0.isLast } == 1)
  }

  @Test func `goes on while a step is committed, and commits one step at a time, in order`() async throws {
    let old = try await PrivateMariaDB.shared.database()
    let connection = try await Connection.open(old)
    let insert = BulkInsert(into: "INSERT INTO receipts_old (id, receipt) VALUES")
    try await connection.read { session throws(DatabaseError) in
      try session.run("CREATE TABLE receipts_old (id INT NOT NULL PRIMARY KEY, receipt TEXT NULL)")
      _ = try session.insert(insert, rows: (Int64(1)...3_000).map { [.integer($0), .null] })
    }
    await connection.close()
    let source = TableSource(
      address: DatabaseURL.withoutPassword(old), table: "receipts_old",
      columns: .init(key: "id", content: "receipt", userID: nil, app: nil), keyKind: .integer, condition: nil,
      estimate: nil)
    let record = Record()
    let run = Self.run(record) { number in
      // Three pages make the first step. Only by what is read meanwhile the pages of the next one can be asked for.
      if number == 1, await !eventually({ record.asked >= 64 + 128 + 256 + 3 * 512 }) { throw Refused() }
      return .written
    }
    let reader = SourceReader.table(try await TableBatches(source, old, from: .start, mostRows: nil))
    #expect(try await run.run(part, reader) == .done)
    #expect(record.mostUnderWay == 1)
    expectWhole(record.steps, rows: 3_000)
  }

  @Test func `cuts a batch into many steps, and ends a part without rows`() async throws {
    for ids in [0, 1, 256, 257, 70_000] {
      let record = Record()
      #expect(try await Self.run(record) { _ in .written }.run(part, try file(of: ids)) == .done)
      #expect(record.steps.count == max(1, (ids + 255) / 256), "\(ids)")
      expectWhole(record.steps, rows: ids)
    }
  }

  @Test func `ends with the error of a commit, or when the part is another process's`() async throws {
    let refused = Record()
    await #expect(throws: Refused.self) {
      try await Self.run(refused) { number in
        if number == 2 { throw Refused() }
        return .written
      }.run(part, try file(of: 5_000))
    }
    #expect(refused.steps.count == 2)
    for (outcome, end) in [(MigrationStep.Outcome.lost, PartImport.End.lost), (.halted, .halted)] {
      let record = Record()
      #expect(try await Self.run(record) { $0 == 2 ? outcome : .written }.run(part, try file(of: 5_000)) == end)
      #expect(record.steps.count == 2)
    }
  }

  @Test func `stops behind the step that is committed when it is cancelled`() async throws {
    let (record, reader) = (Record(), try file(of: 5_000))
    let run = Self.run(record) { _ in
      _ = await eventually { Task.isCancelled }
      return .written
    }
    let task = Task { [part] in try await run.run(part, reader) }
    #expect(await eventually { record.steps.count == 1 })
    task.cancel()
    #expect(try await task.value == .halted)
    #expect(record.steps.count == 1)
  }
}
