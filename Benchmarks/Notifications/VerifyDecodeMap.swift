import Adapter
import Purchases
import Signing
import Simulator
import Time
import Wire

/// From the bytes Apple posts to findings: every signature verified, decoded, mapped, one core.
///
/// 400 different notifications with a transaction and a renewal inside go through `MessageDecoder.notification`, digest of the
/// body included, with the certificate chain known as it is after the first, and the key's table made. Against three
/// bare EVP verifications of the same bytes (`BareVerification`), which was the ceiling until keys had tables. 40 rounds
/// of each in turns; medians of the thread's time.
enum VerifyDecodeMap {
  private static let name = "notification.verify-decode-map"

  static let benchmark = Benchmark(
    name: name, summary: "a notification from its bytes to what it teaches, on one core"
  ) { settings in
    let samples = try NotificationSamples(seed: 1)
    let notifications = try await samples.withRenewals(400)
    let adapter = MessageDecoder(verifier: try samples.verifier())
    let bare = try BareVerification(notifications.map(\.signedPayload), leaf: samples.pki.leaf.certificate.der)
    guard bare.signatureCount == 3 * notifications.count else { throw BenchmarkError("not three signatures in each") }
    let now = NotificationSamples.start + .days(500)
    let (ours, evp) = try Rounds(count: 40).medians(
      {
        for notification in notifications {
          let reading = try adapter.notification(notification.body, message: .sha256(notification.body), now: now)
          guard reading.survey.isClean, reading.findings.purchases.count == 1 else {
            throw BenchmarkError("\(notification.title) was not understood")
          }
        }
      }, { try bare.run() })
    let count = Double(notifications.count)
    let size = notifications.reduce(0) { $0 + $1.body.count } / notifications.count
    let (mine, bareTime) = (Figure.text(ours / count / 1_000), Figure.text(evp / count / 1_000))
    settings.note("  \(size) bytes each; \(mine) us, bare \(bareTime) us")
    return [
      Measurement(
        name: name, value: count / ours * 1e9, unit: "notifications/s", against: count / evp * 1e9,
        peer: "three bare EVP verifications", target: .atLeast(0.70))
    ]
  }
}
