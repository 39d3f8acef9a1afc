/// Something that can be measured by name.
struct Benchmark: Sendable {
  struct Settings: Sendable {
    /// How long the service is put under load.
    let seconds: Int
    /// Whether Apple's library may be fetched when it is not there.
    let mayInstallPeer: Bool
    let peerScript: String
    /// Of the file that is extracted from.
    let receipts: Int
    /// Of the ledger that verifyReceipt is answered from.
    let customers: Int
    /// Messages that wait when the outage of `forwarding` ends.
    let waiting: Int
    /// Tells whoever waits what is being done.
    let note: @Sendable (String) -> Void
  }

  let name: String
  let summary: String
  let run: @Sendable (Settings) async throws -> [Measurement]

  /// What its name begins with: `answers` of `answers.http`.
  var family: String { name.split(separator: ".").first.map(String.init) ?? name }

  static var families: [String] { Set(all.map(\.family)).subtracting(all.map(\.name)).sorted() }

  static let all = [
    VerifyAlone.benchmark, VerifyDecodeMap.benchmark, ApplePeer.benchmark, StreamRate.benchmark, LedgerBatch.benchmark,
    BareHTTP.benchmark, DurableHTTP.benchmark, VerifyReceipt.benchmark, ComposeAnswer.benchmark, AnswersHTTP.benchmark,
    ExtractBulk.benchmark, MapLegacy.benchmark, LegacyHTTP.benchmark, Forwarding.benchmark, AnswerRead.benchmark,
    SeedingHistory.benchmark, LargeLookUp.benchmark, Attack.benchmark, SimulatorYear.benchmark,
    Strangers.benchmark, MigrationRows.benchmark, MigrationIDs.benchmark, ShadowCost.benchmark,
  ]
}

/// Why nothing could be measured, for people.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
