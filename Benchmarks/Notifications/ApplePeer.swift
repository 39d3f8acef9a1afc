import Adapter
import JSON
import Signing
import Simulator
import Time

/// Apple's own library (Python) on the same notifications, on one core.
///
/// `peers.py` verifies and decodes each notification and the two payloads inside it, for three seconds after a warm-up.
/// Ours goes through them for as long in this process, before and after it; the better of the two counts, since both
/// have the machine to themselves no better than that. Skipped when Apple's library is not there and not asked for.
enum ApplePeer {
  private static let name = "notification.peer"
  private static let environment = ".peer"

  static let benchmark = Benchmark(name: name, summary: "the same notifications through Apple's Python library") {
    settings in
    guard try isInstalled(settings) else {
      settings.note("  skipped: no \(environment); --peer makes it")
      return []
    }
    let samples = try NotificationSamples(seed: 1)
    let notifications = try await samples.withRenewals(400)
    let directory = try ScratchDirectory()
    let root = try directory.write(samples.pki.root.certificate.der, to: "root.der")
    let lines = notifications.flatMap { $0.signedPayload + [UInt8(ascii: "\n")] }
    let file = try directory.write(lines, to: "notifications")
    let before = try ours(notifications, samples)
    let app = NotificationSamples.app
    let peer = try ChildProgram(
      "\(environment)/bin/python",
      [settings.peerScript, "notifications", root, app.bundleID, "\(app.appAppleID)", file])
    let answer = peer.line().flatMap { try? JSONReader.read(Array($0.utf8)).object }
    guard peer.wait() == 0, let rate = answer?["per_second"] else { throw BenchmarkError("peers.py failed") }
    let theirs =
      switch rate {
      case .integer(let whole): Double(whole)
      case .number(let number): number.double ?? .nan
      case .null, .bool, .string, .array, .object: Double.nan
      }
    return [
      Measurement(
        name: name, value: max(before, try ours(notifications, samples)), unit: "notifications/s", against: theirs,
        peer: answer?["peer"]?.string, target: .atLeast(20))
    ]
  }

  /// Ours a second, over three seconds of the clock.
  private static func ours(_ notifications: [SignedNotification], _ samples: NotificationSamples) throws -> Double {
    let adapter = MessageDecoder(verifier: try samples.verifier())
    let now = NotificationSamples.start + .days(500)
    let start = ContinuousClock.now
    var done = 0
    while ContinuousClock.now - start < .seconds(3) {
      for notification in notifications {
        _ = try adapter.notification(notification.body, message: .sha256(notification.body), now: now)
      }
      done += notifications.count
    }
    let elapsed = (ContinuousClock.now - start).components
    return Double(done) / (Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18)
  }

  private static func isInstalled(_ settings: Benchmark.Settings) throws -> Bool {
    if isThere { return true }
    guard settings.mayInstallPeer else { return false }
    settings.note("  fetching app-store-server-library into \(environment)")
    for step in [
      ("python3", ["-m", "venv", environment]),
      ("\(environment)/bin/pip", ["install", "--quiet", "app-store-server-library"]),
    ] {
      guard try ChildProgram(step.0, step.1).wait() == 0 else { throw BenchmarkError("\(step.0) failed") }
    }
    return true
  }

  private static var isThere: Bool {
    (try? ChildProgram("\(environment)/bin/python", ["-c", "import appstoreserverlibrary"]).wait()) == 0
  }
}
