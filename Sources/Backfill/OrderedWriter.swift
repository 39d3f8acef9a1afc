import Runtime

/// Writes results in the order of their blocks, each receipt once, and keeps the accounts.
///
/// On a thread of its own: writing blocks.
actor OrderedWriter {
  private let executor = SerialQueueExecutor(label: "extract output")
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private let known: KnownReceipts
  private let sinks: Extraction.Sinks
  private let format: OutputFormat
  private let separatesRejects: Bool
  private let progress: ExtractionProgress
  private var waiting: [Int: BlockResult] = [:]
  private var accounts = RowCounts()
  private var hasHeading = false
  private var hasRejects = false
  /// The file of the last rejects.
  private var rejectedFile: String?
  /// Blocks that have had their turn.
  private(set) var written = 0

  init(
    known: KnownReceipts, sinks: Extraction.Sinks, settings: Extraction.Settings, progress: ExtractionProgress
  ) {
    self.known = known
    self.sinks = sinks
    format = settings.format
    separatesRejects = settings.separatesRejects
    self.progress = progress
  }

  /// Writes it, and what waited for it, when it is its turn.
  func take(_ result: BlockResult, number: Int) throws {
    waiting[number] = result
    while let next = waiting.removeValue(forKey: written) {
      try write(next)
      written += 1
    }
  }

  func finish() throws -> RowCounts {
    try writeHeading()
    return accounts
  }

  private func write(_ result: BlockResult) throws {
    try writeHeading()
    let admitted = known.admit(result.entries)
    // Accounts are told only of what was written.
    var after = accounts
    for (entry, isAdmitted) in zip(result.entries, admitted) { after.add(entry, isAdmitted: isAdmitted) }
    let output = Self.output(result, admitted)
    if !output.isEmpty { try sinks.output(output) }
    if !result.rejects.isEmpty {
      let isFirst = !hasRejects || (separatesRejects && rejectedFile != result.file)
      if isFirst, let heading = result.rejectHeading { try sinks.rejects(heading, result.file) }
      (hasRejects, rejectedFile) = (true, result.file)
      try sinks.rejects(result.rejects, result.file)
    }
    accounts = after
    progress.note(accounts: accounts)
    progress.note(doubtful: result.doubtful, misfit: result.misfit)
    progress.note(formulas: result.formulas)
  }

  private func writeHeading() throws {
    if !hasHeading, let heading = format.heading { try sinks.output(heading) }
    hasHeading = true
  }

  /// The lines of those that are new.
  private static func output(_ result: BlockResult, _ admitted: [Bool]) -> [UInt8] {
    var kept: [UInt8] = []
    var isWhole = true
    var start = 0
    for (entry, isAdmitted) in zip(result.entries, admitted) {
      guard case .usable(_, let end) = entry else { continue }
      if !isAdmitted && isWhole {
        isWhole = false
        kept = Array(result.output[..<start])
      } else if isAdmitted && !isWhole {
        kept += result.output[start..<end]
      }
      start = end
    }
    return isWhole ? result.output : kept
  }
}
