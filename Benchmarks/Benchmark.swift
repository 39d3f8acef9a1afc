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
    /// Messages that wait when the outage of `forwarding` ends.
    let waiting: Int
    /// Tells whoever waits what is being done.
    let note: @Sendable (String) -> Void
  }

  let name: String
  let summary: String
  let run: @Sendable (Settings) async throws -> [Measurement]

  static let all = [
    VerifyAlone.benchmark, VerifyDecodeMap.benchmark, ApplePeer.benchmark, StreamRate.benchmark, LedgerBatch.benchmark,
    BareHTTP.benchmark, DurableHTTP.benchmark, VerifyReceipt.benchmark, ComposeAnswer.benchmark, AnswersHTTP.benchmark,
    ExtractBulk.benchmark, MapLegacy.benchmark, LegacyHTTP.benchmark, Forwarding.benchmark, AnswerRead.benchmark,
    SeedingHistory.benchmark, LargeLookUp.benchmark, Attack.benchmark, SimulatorYear.benchmark, HidingSecrets.benchmark,
  ]
}

/// Why nothing could be measured, for people.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
