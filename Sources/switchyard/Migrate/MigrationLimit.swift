import AppStore
import Database
import Ledger
import Operations
import Purchases
import Rollout
import Seeding
import Time

/// The longest time for the open IDs of an app and environment, and its limiting factor.
struct MigrationLimit {
  /// `nil` if the IDs wait for an event of unknown date.
  let seconds: Int64?
  let cause: String

  /// The text for people: `at most 30 s (Apple's limit …)`, or `waits for …`.
  var text: String { seconds.map { "at most \($0) s (\(cause))" } ?? "waits for \(cause)" }

  private struct Setup {
    let learned: AdaptiveRate?
    let hasKey: Bool
    let stage: Stage?
    let wait: LookUpWait?
  }

  /// Returns the limits of a job, longest first.
  ///
  /// - Parameters:
  ///   - rate: the recent IDs with a response per second; 0 without a measurement.
  ///   - isHeldUp: whether a file pauses all migrations of this data directory.
  static func all(
    _ record: MigrationRecord, idsPerSecond rate: Int64, isHeldUp: Bool, at now: Timestamp, _ connection: Connection
  ) async throws -> [Self] {
    var limits: [Self] = []
    let rows = record.accounts.rows
    // The unread rows will bring as many IDs as those before them.
    let ahead = rows > 0 ? Double((record.expectedRows ?? rows) - rows) / Double(rows) : 0
    for place in record.places where place.accounts.open > 0 && !place.app.isEmpty {
      limits.append(
        try await limit(
          of: (app: place.app, environment: Environment(rawValue: place.environment) ?? .production),
          open: place.accounts.open + Int(Double(place.accounts.ids) * ahead), record, rate, isHeldUp, now, connection))
    }
    return limits.sorted { $0.seconds ?? .max > $1.seconds ?? .max }
  }

  private static func limit(
    of place: (app: String, environment: Environment), open: Int, _ record: MigrationRecord, _ rate: Int64,
    _ isHeldUp: Bool, _ now: Timestamp, _ connection: Connection
  ) async throws -> Self {
    let (app, environment, settings) = (place.app, place.environment, record.job.settings)
    let key = RateLimitKey(
      app: app, endpoint: .getTransactionHistory, environment: environment == .sandbox ? .sandbox : .production)
    let setup = try await connection.read { session throws(DatabaseError) in
      let id = try AppTable.all(in: session).first { $0.bundleID == app }?.id
      let keyed = try CredentialTable.apps(with: .apiKey, in: session)
      let flags = try StageTable.all(in: session)
      return Setup(
        learned: try DatabaseRateLimitStore.learned(key, at: now, in: session),
        hasKey: id.map { keyed.contains($0) } ?? false,
        stage: id.flatMap { flags[AppScope(app: $0, environment: environment)]?.stage },
        wait: try id.flatMap { id throws(DatabaseError) in
          try LookUpWait.read(AppScope(app: id, environment: environment), at: now, in: session)
        })
    }
    guard setup.hasKey else { return Self(seconds: nil, cause: "a key of the App Store Server API for \(app)") }
    if setup.stage == .legacy {
      return Self(seconds: nil, cause: "a stage above legacy of \(app) in \(environment.rawValue)")
    }
    if isHeldUp { return Self(seconds: nil, cause: "the file migrate.pause to be removed") }
    if let hours = settings.hours, !hours.contain(now) {
      return Self(seconds: nil, cause: "the hours \(hours.text) UTC")
    }
    if let wait = setup.wait { return Self(seconds: nil, cause: wait.text) }
    let forecast = RateLimiterState(bounds: .documented(key), learned: setup.learned).forecast(calls: open, now: now)
    if let calls = settings.callsPerSecond, Double(calls) < forecast.perSecond {
      // A customer has at least one ID, so without a measurement this is the longest time.
      let seconds = rate > 0 ? Int64(open) / rate : Int64(open / max(1, calls))
      return Self(seconds: max(1, seconds), cause: "the throttle of \(calls.counted("customer")) a second")
    }
    // Apple would allow a much higher rate.
    if forecast.cause != .blocked, rate > 0, Double(rate) * 2 < forecast.perSecond {
      return Self(seconds: max(1, Int64(open) / rate), cause: "the services answer \(rate) ids a second")
    }
    return Self(
      seconds: max(1, forecast.length.milliseconds / 1_000),
      cause: "Apple's limit for \(app) (\(forecast.cause.rawValue))")
  }
}
