import JSON
import Runtime
import Signing
import Simulator
import Time

/// The stored state of a simulated App Store with `--keep`: keys, port and clock, in a folder of `--out`.
///
/// The seed recreates the customers. Manual orders are not stored: acts, destinations, faults.
struct SavedWorld: Sendable {
  private let files: PKIDirectory

  init(in directory: String) { files = PKIDirectory(path: "\(directory)/kept") }

  private static let (clockName, keyName) = ("clock.json", "api.key")

  struct Memory {
    fileprivate let clock: JSONObject
    fileprivate let pki: ApplePKI
    fileprivate let receiptPKI: ReceiptPKI
    fileprivate let apiKey: SigningKey

    var identity: JSONObject? { clock["world"]?.object }
    /// The time until which its customers had lived at the start and at the end.
    var end: Timestamp? { clock["asOf"]?.integer.map { Timestamp($0) } }
    var now: Timestamp? { clock["now"]?.integer.map { Timestamp($0) } }

    /// Applies the stored keys, and the stored port unless another one is requested.
    func apply(to settings: inout RunningAppStore.Settings) throws {
      if settings.port == 0 { settings.port = clock["port"]?.integer.flatMap { UInt16(exactly: $0) } ?? 0 }
      settings.pki = RunningAppStore.KeptPKI(pki, responder: clock["responder"]?.string)
      settings.receiptPKI = receiptPKI
      settings.apiKey = apiKey
    }
  }

  /// Returns `nil` at the first start.
  func read() throws -> Memory? {
    guard let clock = try files.load(Self.clockName), let key = try files.load(Self.keyName) else { return nil }
    return Memory(
      clock: try JSONReader.read(clock).object ?? [:], pki: try files.load(), receiptPKI: try files.loadReceiptPKI(),
      apiKey: try SigningKey(pem: key))
  }

  /// Writes the keys, and the clock last, so that a reader of the clock finds the rest.
  func keep(_ running: RunningAppStore, _ options: WorldOptions) throws {
    let identity = running.store.identity
    try files.save(identity.chains.pki)
    try files.save(identity.receiptPKI)
    try files.save(try identity.key.signingKey.pem(), as: Self.keyName)
    try write(running, options)
  }

  /// Creates a service that updates the stored time while it serves.
  func clock(of running: RunningAppStore, _ options: WorldOptions) -> some Service {
    Clock(kept: self, running: running, options: options)
  }

  private func write(_ running: RunningAppStore, _ options: WorldOptions) throws {
    var clock: JSONObject = [
      "asOf": .integer(options.end.sinceEpoch), "now": .integer(running.now.sinceEpoch),
      "port": .integer(Int64(running.port)), "world": .object(options.identity),
    ]
    if let responder = running.responder { clock["responder"] = .string(responder) }
    try files.save(clock.encoded() + [0x0A], as: Self.clockName)
  }

  private struct Clock: Service {
    let kept: SavedWorld
    let running: RunningAppStore
    let options: WorldOptions

    func run() async throws {
      var written: Timestamp?
      while !Task.isCancelled {
        if running.now != written {
          written = running.now
          try kept.write(running, options)
        }
        // Ends early when cancelled.
        try? await Task.sleep(for: .seconds(1))
      }
      try kept.write(running, options)
    }
  }
}
