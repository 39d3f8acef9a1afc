/// How long an app lives on V1 alone, with how many customers, and what goes wrong meanwhile.
struct LegacyMonthsPlan: Sendable {
  var customers: Int
  var days: Int
  var seed: UInt64
  /// For how many days, one here and there, Apple's API is down.
  var outages = 0
  /// The days at whose end the service is killed while it asks Apple.
  var kills: Set<Int> = []
  var isLoud = false

  /// A line on stderr for whoever waits for a long story.
  func say(_ text: String) {
    guard isLoud else { return }
    let line = Array("legacy months: \(text)\n".utf8)
    _ = unsafe write(STDERR_FILENO, line, line.count)
  }

  /// Customers who come in the first days, in Production, to whom everything happens that V1 has a word for.
  ///
  /// V1 tells of no reversed refund. It tells of no extension either: that is found when the period ends, but not while
  /// Apple's API is down.
  var world: AppStoreWorld {
    var app = AppPlan.sample(MonthsPlan.app, appAppleID: MonthsPlan.appAppleID, environment: .production)
    app.customers = customers
    app.arrival = .days(Int64(min(20, days / 3)))
    app.habits = .lively
    app.habits.refundIsReversed = 0
    if outages > 0 { app.habits.isExtended = 0 }
    return AppStoreWorld(plan: WorldPlan(apps: [app]), seed: seed, start: MonthsPlan.start)
  }
}
