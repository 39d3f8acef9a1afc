import Signing
import Simulator
import Time

/// Verification without what follows it: how much of `notification.verify-decode-map` is Signing's.
///
/// The same notifications beside the same three verifications by EVP, in the same rounds. Ours are by the key's table after
/// the first 512, so a ratio above 1 is to be expected: it says what the table saves, less all that is not a signature.
/// Then one signature by table and by EVP, and the first notification of a chain that nobody has seen, whose three P-384
/// and P-256 certificate signatures are verified too.
enum VerifyAlone {
  private static let name = "notification.verify"

  static let benchmark = Benchmark(name: name, summary: "a notification and what is nested in it verified, on one core")
  { _ in
    let samples = try NotificationSamples(seed: 1)
    let notifications = try await samples.withRenewals(400).map(\.signedPayload)
    let verifier = try samples.verifier()
    let bare = try BareVerification(notifications, leaf: samples.pki.leaf.certificate.der)
    let now = NotificationSamples.start + .days(500)
    let rounds = Rounds(count: 20)
    let warm = try rounds.medians(
      {
        for jws in notifications { _ = try verifier.verifyNotification(jws, expecting: ExpectedClaims(), now: now) }
      }, { try bare.run() })
    // A verifier is made in both, so that the difference is the chain.
    let fresh = try rounds.medians(
      { _ = try samples.verifier().verifyNotification(notifications[0], expecting: ExpectedClaims(), now: now) },
      { _ = try samples.verifier() })
    let count = Double(notifications.count)
    return [
      Measurement(
        name: name, value: count / warm.a * 1e9, unit: "notifications/s", against: count / warm.b * 1e9,
        peer: "three bare EVP verifications"),
      try signature(samples.pki, rounds),
      Measurement(name: "\(name).new-chain", value: (fresh.a - fresh.b) / 1_000, unit: "us"),
    ]
  }

  private static func signature(_ pki: ApplePKI, _ rounds: Rounds) throws -> Measurement {
    let (key, publicKey) = (try pki.signingKey(), try pki.leaf.certificate.publicKey())
    guard let table = KeyTable(point: publicKey.point) else { throw BenchmarkError("OpenSSL makes no table") }
    let signed = try (UInt8(0)..<200).map { (signature: try key.signature(of: [$0]), digest: Digest.sha256([$0])) }
    let times = try rounds.medians(
      {
        guard signed.allSatisfy({ table.accepts($0.signature, of: $0.digest) }) else { throw BenchmarkError("refused") }
      },
      {
        guard signed.allSatisfy({ publicKey.verifies($0.signature, of: $0.digest) }) else {
          throw BenchmarkError("refused")
        }
      })
    let count = Double(signed.count)
    return Measurement(
      name: "\(name).signature", value: times.a / count / 1_000, unit: "us", against: times.b / count / 1_000,
      peer: "EVP (below 1 is faster)")
  }
}
