import AppStore
import Reconciliation
import Runtime
import Service
import Signing
import Time

enum AppleSyncOptions {
  static let options: [Option] =
    [
      .value(
        "reconcile-every", "TIME", default: "24h", "How often each app with a key is compared with Apple; off: never."),
      .value(
        "refund-sweep", "TIME", default: "7d",
        "How often Apple is asked for the refunds of each customer who bought in the last 120 days; off: never."),
      .value(
        "heartbeat-every", "TIME", default: "24h",
        "How often Apple is asked for a TEST notification of each app with a key; off: never."),
      .value("heartbeat-within", "TIME", default: "10m", "How long it may take to come before there is an alarm."),
    ] + AppleClient.options

  static func settings(_ arguments: ParsedArguments, _ trust: TrustOptions) throws(UsageError) -> AppStoreSettings {
    var appStore = AppStoreSettings(verifier: SignedDataVerifier(roots: trust.roots))
    if let hosts = try AppleClient.hosts(arguments) {
      appStore.hosts = hosts
      appStore.bounds = { .unknown($0) }
    }
    appStore.reconcileEvery = try every("reconcile-every", arguments)
    appStore.refundSweepEvery = try every("refund-sweep", arguments)
    appStore.heartbeatEvery = try every("heartbeat-every", arguments)
    appStore.heartbeatWithin =
      try arguments.duration("heartbeat-within", in: .minutes(1)...(.days(1)), bare: .minutes(1)) ?? .minutes(10)
    return appStore
  }

  /// Returns `nil` for `off`.
  private static func every(_ option: String, _ arguments: ParsedArguments) throws(UsageError) -> Interval? {
    let every = try arguments.duration(option, in: .seconds(0)...(.days(365)), bare: .hours(1))
    return every == .seconds(0) ? nil : every
  }
}
