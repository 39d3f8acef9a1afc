import Intake
import JSON
import Ledger
import Signing
import Time

/// What is done to a body before anything vouches for it: read, and its secrets taken out, on one core.
///
/// `ReceivedNotification` of V1 notifications of 10 to 100 rows, with the app's secret registered: the ordinary bodies. The worst
/// ones are looked for: `HostileBody` makes 400 of about 900 KB from a fixed seed, and every one of them by itself; the slowest
/// 12 of one round are measured again in 10 rounds beside the ordinary ones. Medians of the thread's time, in bytes a second.
enum HidingSecrets {
  static let benchmark = Benchmark(
    name: "hiding", summary: "secrets taken out of bodies before they are kept, on one core"
  ) { settings in
    let (key, filter) = (MasterKey.generate(), SecretFilter([Array(LegacySamples.secret.utf8)]))
    func hide(_ body: [UInt8]) {
      _ = ReceivedNotification(body, key: key, secrets: filter, receivedAt: NotificationSamples.start)
    }
    let ordinary = (0..<60).map { LegacySamples.notification(customer: $0, rows: [10, 20, 100][$0 % 3]) }
    var generator = HostileBody.Generator(seed: 28)
    let bodies = HostileBody.simple() + (0..<400).map { _ in HostileBody.random(&generator) }
    let slowest = bodies.map { (body: $0, speed: speed(of: [$0], Rounds(count: 1), hide)) }
      .sorted { $0.speed < $1.speed }.prefix(12)
    var worst = (speed: Double.infinity, usual: 1.0, body: HostileBody(shape: "", bytes: []))
    for (body, _) in slowest {
      let (usual, hostile) = Rounds(count: 10).medians(
        { for body in ordinary { hide(body) } }, { hide(body.bytes) })
      let speed = Double(body.bytes.count) / hostile * 1e9
      if speed < worst.speed { worst = (speed, rate(ordinary, usual), body) }
    }
    settings.note("  the worst of \(bodies.count): \(worst.body.bytes.count) bytes of \(worst.body.shape)")
    return [
      Measurement(
        name: "hiding.worst", value: worst.speed, unit: "bytes/s", against: worst.usual, peer: "ordinary V1 bodies",
        target: .atLeast(1.0 / 3))
    ]
  }

  private static func speed(of bodies: [HostileBody], _ rounds: Rounds, _ hide: ([UInt8]) -> Void) -> Double {
    let (time, _) = rounds.medians({ for body in bodies { hide(body.bytes) } }, {})
    return rate(bodies.map(\.bytes), time)
  }

  private static func rate(_ bodies: [[UInt8]], _ nanoseconds: Double) -> Double {
    Double(bodies.reduce(0) { $0 + $1.count }) / nanoseconds * 1e9
  }
}
