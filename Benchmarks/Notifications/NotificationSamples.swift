import Glibc
import JSON
import Signing
import Simulator
import Time

/// What the benchmarks of notifications are fed with: made by the simulator, each different, signed as Apple signs.
struct NotificationSamples: Sendable {
  /// 2026-03-01T00:00:00Z: figures do not depend on the day they are measured.
  static let start = Timestamp(1_772_323_200_000)
  static let app = SimulatedApp(name: "Bench", bundleID: "com.example.bench", appAppleID: 1_599_000_111)

  let pki: ApplePKI
  private let seed: UInt64

  init(seed: UInt64) throws {
    pki = try ApplePKI.generate(at: Self.start)
    self.seed = seed
  }

  /// `count` of the stream from the number `first` on, made on all cores.
  func generate<Kept: Sendable>(
    _ count: Int, from first: Int = 0, keeping keep: @escaping @Sendable (SignedNotification) -> Kept
  ) async throws -> [Kept] {
    try await NotificationStream(seed: seed, app: Self.app, pki: pki, start: Self.start)
      .generate(count, from: first, keeping: keep)
  }

  /// `count` that carry a transaction and a renewal: three signatures each.
  func withRenewals(_ count: Int) async throws -> [SignedNotification] {
    let all = try await generate(count * 3) { $0 }
    let three = all.filter(Self.hasThreeSignatures)
    guard three.count >= count else { throw BenchmarkError("only \(three.count) notifications with a renewal") }
    return Array(three.prefix(count))
  }

  private static func hasThreeSignatures(_ notification: SignedNotification) -> Bool {
    let parts = notification.signedPayload.split(separator: UInt8(ascii: "."))
    guard parts.count == 3, let payload = Base64.url.decode(Array(parts[1])),
      let data = try? JSONReader.read(payload).object?["data"]?.object
    else { return false }
    return data["signedTransactionInfo"] != nil && data["signedRenewalInfo"] != nil
  }

  /// The verifier of a server that trusts the simulator's root for Sandbox.
  func verifier() throws -> SignedDataVerifier {
    SignedDataVerifier(roots: TrustedRoots.apple.adding([try pki.trustedRoot()], for: .sandbox))
  }
}
