/// Receipts to extract from, and what comes of a run.
enum Bench {
  /// 2026-06-01T00:00:00Z.
  private static let end = Timestamp(1_780_272_000_000)
  static let pki = ReceiptPKI.known(at: end)
  /// Of the same names, trusted by nobody.
  static let stranger = ReceiptPKI.stranger(at: end)
  static let reader = ReceiptReader(trust: make { ReceiptTrust(exactly: [try pki.trustedRoot()]) })
  /// Of the customers of two apps, in turns, who have one.
  static let customers: [DeviceReceipt] = {
    let apps = ["com.example.a", "com.example.b"].map { bundleID in
      var plan = AppPlan.sample(bundleID)
      plan.habits = .lively
      plan.customers = 60
      return plan
    }
    let population = Population(plan: WorldPlan(apps: apps), seed: 11, start: end - .days(300))
    let receipts = (0..<population.count).flatMap { number in
      var life = population.life(number)
      life.advance(to: end)
      return life.states.compactMap(DeviceReceipt.init)
    }
    let byApp = apps.map { app in receipts.filter { $0.state.app.bundleID == app.app.bundleID }.prefix(30) }
    return zip(byApp[0], byApp[1]).flatMap { [$0, $1] }
  }()
  /// Of `customers`, in base64.
  static let receipts: [String] = customers.map { customer in
    make { String(decoding: try customer.encoded(signedBy: pki), as: UTF8.self) }
  }

  static func table(_ numbers: Range<Int>) -> String {
    numbers.map { "\(customers[$0].state.app.bundleID),\(customers[$0].state.userID),\(receipts[$0])\n" }.joined()
  }

  struct Outcome {
    let accounts: RowCounts
    let output: String
    /// By the file of a folder.
    let rejectsByFile: [String: String]
    /// Where the quotes of a table do not match.
    let doubtful: [ClosedRange<Int>]
    /// Cells of the rejects that a spreadsheet would run.
    let formulas: Int

    /// Of the only file, or of all together.
    var rejects: String { rejectsByFile.sorted { $0.key < $1.key }.map(\.value).joined() }

    var lines: [JSONObject] {
      get throws { try output.split(separator: "\n").compactMap { try JSONReader.read(Array($0.utf8)).object } }
    }

    /// The reasons in the rejects' last column or member.
    var reasons: [String: Int] {
      accounts.rejectedByReason.reduce(into: [:]) { $0[$1.code] = $1.count }
    }
  }

  static func extract(
    _ text: String, rowLimit: Int = 4 << 20, _ change: (inout Extraction.Settings) -> Void = { _ in }
  ) async throws -> Outcome { try await extract(Array(text.utf8), rowLimit: rowLimit, change) }

  static func extract(
    _ bytes: [UInt8], rowLimit: Int = 4 << 20, _ change: (inout Extraction.Settings) -> Void = { _ in }
  ) async throws -> Outcome {
    let place = TemporaryDirectory()
    try OutputFile("\(place.path)/input").write(bytes)
    return try await extract(at: "\(place.path)/input", rowLimit: rowLimit, change)
  }

  static func extract(
    at path: String, rowLimit: Int = 4 << 20, isStopped: @escaping @Sendable () -> Bool = { false },
    _ change: (inout Extraction.Settings) -> Void = { _ in }
  ) async throws -> Outcome {
    var settings = Extraction.Settings()
    settings.keepsRejects = true
    change(&settings)
    let written = Mutex(Written())
    let box = Box(written)
    let progress = ExtractionProgress()
    let input = try InputReader(path, rowLimit: rowLimit, progress: progress, isStopped: isStopped)
    let sinks = Extraction.Sinks(
      output: { bytes in box.state.withLock { $0.output += bytes } },
      rejectsByFile: { rows, file in box.state.withLock { $0.rejects[file ?? "", default: []] += rows } })
    let accounts = try await Extraction(reader: reader, settings: settings).run(input, to: sinks, progress: progress)
    #expect(accounts.balances)
    #expect(progress.figures.accounts == accounts)
    let all = box.state.withLock { $0 }
    return Outcome(
      accounts: accounts, output: String(decoding: all.output, as: UTF8.self),
      rejectsByFile: all.rejects.mapValues { String(decoding: $0, as: UTF8.self) },
      doubtful: progress.figures.doubtful.map { $0.first...$0.last }, formulas: progress.figures.formulas)
  }

  private struct Written {
    var output: [UInt8] = []
    /// By the file of a folder.
    var rejects: [String: [UInt8]] = [:]
  }

  private final class Box: Sendable {
    let state: Mutex<Written>
    init(_ state: consuming Mutex<Written>) { self.state = state }
  }

  private static func make<Made>(_ body: () throws -> Made) -> Made {
    do { return try body() } catch { preconditionFailure("no workbench: \(error)") }
  }
}
