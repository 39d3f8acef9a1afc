import Signing
import Simulator
import Time

/// Verification without what follows it: how much of `notification.verify-decode-map` is Signing's.
///
/// The same notifications, the same ceiling and the same rounds; then the first notification of a chain that nobody has
/// seen, whose three P-384 and P-256 certificate signatures are verified too.
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
        peer: "three bare OpenSSL verifications"),
      Measurement(name: "\(name).new-chain", value: (fresh.a - fresh.b) / 1_000, unit: "us"),
    ]
  }
}
