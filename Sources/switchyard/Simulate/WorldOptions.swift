import JSON
import Runtime
import Signing
import Simulator
import Time

/// The options of a simulated world, the same for `--generate` and `--port`, so that both have the same customers.
struct WorldOptions: Sendable {
  enum Place: String, CaseIterable {
    case sandbox, production
  }

  static let options: [Option] = [
    .value("seed", "N", default: "1", "Another number makes other customers."),
    .value("customers", "N", default: "100", "How many with --generate or --port, up to 10,000,000 or 1,000,000."),
    .value(
      "app", "APP", repeats: true, "The bundle ids of the apps."
    ),
    .value(
      "environment", "NAME", choices: Place.allCases.map(\.rawValue), default: "sandbox",
      "Where the customers buy; with --port the other environment serves too, and is empty."),
    .value("history", "TIME", default: "300d", "How long the customers' lives are; with --port they are over."),
    .value(
      "as-of", "MILLISECONDS",
      "The world's time at the end of that, since 1970; 2026-06-01 with --generate, 60 days ago with --port."),
  ]

  let seed: UInt64
  let plan: WorldPlan
  /// The members that identify this world, except its time.
  let identity: JSONObject
  /// The beginning of the world, and the time until which its customers have lived.
  let start: Timestamp
  let end: Timestamp

  /// - Parameters:
  ///   - customers: the allowed number.
  ///   - standard: the end unless `--as-of` gives another.
  ///   - kept: the end when the world was begun before, which overrides all others.
  init(
    _ arguments: ParsedArguments, customers: ClosedRange<Int>, until standard: Timestamp,
    keptUntil kept: Timestamp? = nil
  ) throws {
    let bundleIDs = try Self.bundleIDs(arguments)
    seed = UInt64(try arguments.integer("seed", in: 0...Int.max) ?? 1)
    let count = try arguments.integer("customers", in: customers) ?? 100
    let history = try arguments.duration("history", in: .days(1)...(.days(3_650)), bare: .days(1)) ?? .days(300)
    let days = history.milliseconds / Interval.days(1).milliseconds
    let asOf = try arguments.integer("as-of", in: 1_000_000_000_000...4_000_000_000_000)
    let place = try arguments.choice("environment", as: Place.self) ?? .sandbox
    end = kept ?? asOf.map { Timestamp(Int64($0)) } ?? standard
    start = end - history
    identity = [
      "seed": .integer(Int64(bitPattern: seed)), "customers": .integer(Int64(count)), "history": .integer(days),
      "environment": .string(place.rawValue), "apps": .array(bundleIDs.map(JSONValue.string)),
    ]
    let plans = bundleIDs.enumerated().map { index, bundleID in
      var plan = AppPlan.sample(
        bundleID, appAppleID: 1_600_000_000 + Int64(index) * 1_009,
        environment: place == .sandbox ? .sandbox : .production)
      plan.habits = .lively
      plan.customers = count / bundleIDs.count + (index < count % bundleIDs.count ? 1 : 0)
      plan.arrival = .days(max(1, days * 4 / 5))
      return plan
    }
    plan = WorldPlan(apps: plans)
  }

  /// Creates the world after its customers have lived until the end, or until a later time.
  func world(at now: Timestamp?) -> AppStoreWorld {
    var world = AppStoreWorld(plan: plan, seed: seed, start: start)
    world.advance(to: max(end, now ?? end))
    return world
  }

  private static func bundleIDs(_ arguments: ParsedArguments) throws -> [String] {
    let apps = arguments.values("app")
    guard Set(apps).count == apps.count else {
      throw UsageError(.repeated, "--app names one app twice.", path: arguments.path)
    }
    guard apps.allSatisfy(isBundleID) else {
      throw UsageError(.invalidValue, "--app takes a bundle id, as com.example.app.", path: arguments.path)
    }
    return apps.isEmpty ? ["com.example.inkwell"] : apps
  }

  /// Apple: letters, digits, hyphens and periods.
  static func isBundleID(_ text: String) -> Bool {
    (1...155).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.".utf8.contains(byte)
      }
  }
}
