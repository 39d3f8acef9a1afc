import AppStore
import Reconciliation
import Runtime
import Service
import Signing
import Time

/// How often a running service asks Apple by itself.
enum KeepingUpOptions {
  static let options: [Option] =
    [
      .value(
        "reconcile-every", "HOURS", default: "24", "How often each app with a key is compared with Apple; 0: never."),
      .value(
        "refund-sweep", "TIME", default: "7d",
        "How often Apple is asked for the refunds of each customer who bought in the last 120 days: days (7d), hours (12h) "
          + "or off."),
      .value(
        "heartbeat-every", "HOURS", default: "24",
        "How often Apple is asked for a TEST notification of each app with a key; 0: never."),
      .value("heartbeat-within", "MINUTES", default: "10", "How long it may take to come before there is an alarm."),
    ] + AskingApple.options

  static func settings(_ arguments: ParsedArguments, _ trust: TrustOptions) throws(UsageError) -> AppStoreSettings {
    var appStore = AppStoreSettings(verifier: SignedDataVerifier(roots: trust.roots))
    if let hosts = try AskingApple.hosts(arguments) {
      appStore.hosts = hosts
      appStore.bounds = { .unknown($0) }
    }
    appStore.reconcileEvery = try hours("reconcile-every", arguments)
    appStore.refundSweepEvery = try refundSweep(arguments)
    appStore.heartbeatEvery = try hours("heartbeat-every", arguments)
    appStore.heartbeatWithin = .minutes(Int64(try arguments.integer("heartbeat-within", in: 1...1_440) ?? 10))
    return appStore
  }

  /// Nil for `off`.
  private static func refundSweep(_ arguments: ParsedArguments) throws(UsageError) -> Interval? {
    let text = arguments.value("refund-sweep") ?? "7d"
    if text == "off" { return nil }
    let number = Int64(text.dropLast()).flatMap { (1...365).contains($0) ? $0 : nil }
    switch (number, text.last) {
    case (let days?, "d"): return .days(days)
    case (let hours?, "h"): return .hours(hours)
    default:
      throw UsageError(
        .invalidValue, "--refund-sweep: \(text) is not a number of days (7d) or hours (12h), nor off",
        path: arguments.path)
    }
  }

  /// Nil for 0.
  private static func hours(_ option: String, _ arguments: ParsedArguments) throws(UsageError) -> Interval? {
    let hours = try arguments.integer(option, in: 0...8_760) ?? 24
    return hours == 0 ? nil : .hours(Int64(hours))
  }
}
