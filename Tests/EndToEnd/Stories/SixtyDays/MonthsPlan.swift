/// How large a story of months is, and what goes wrong in it.
struct MonthsPlan: Sendable {
  var customers: Int
  var kills: Int
  var seed: UInt64
  /// How likely each fault is, in a hundred.
  var percent = 1
  /// Of a world's time: how far it goes at once.
  var step = Interval.days(6)
  var isLoud = false

  /// A line on stderr for whoever waits for a long story.
  func say(_ text: String) {
    guard isLoud else { return }
    let line = Array("months: \(text)\n".utf8)
    _ = unsafe write(STDERR_FILENO, line, line.count)
  }

  static let app = "com.example.notes"
  static let appAppleID: Int64 = 1_600_000_000
  static let start = Timestamp(1_735_689_600_000)
  /// Eighteen months; in the middle Apple's URL is switched to V2.
  static let length = Interval.days(548)

  var steps: Int { Int(Self.length.milliseconds / step.milliseconds) }

  /// When somebody is killed; not in the last months, so that as many requests follow as the last kill waits for.
  func fatalSteps(_ random: inout some RandomNumberGenerator) -> Set<Int> {
    Set((0..<steps * 4 / 5).shuffled(using: &random).prefix(kills))
  }

  /// Customers who come for a year, to whom everything happens that can, in Production: what is not taken is sent again.
  var world: AppStoreWorld {
    var app = AppPlan.sample(Self.app, appAppleID: Self.appAppleID, environment: .production)
    app.customers = customers
    app.arrival = .days(365)
    app.habits = .lively
    app.priceChanges = [
      AppPlan.PriceChange(of: "plus.monthly", at: Self.start + .days(170), to: 6_990, needsConsent: true),
      AppPlan.PriceChange(of: "pro.monthly", at: Self.start + .days(240), to: 10_990, needsConsent: false),
      AppPlan.PriceChange(of: "plus.monthly", at: Self.start + .days(420), to: 7_990, needsConsent: true),
    ]
    return AppStoreWorld(plan: WorldPlan(apps: [app]), seed: seed, start: Self.start)
  }

  /// Every fault of the simulator that strikes by chance, each in so many of a hundred cases.
  ///
  /// Not by chance is `hourlyLimit`, which counts, and `revoked`, which is Apple's word for good and not an error of its.
  /// Pauses are of the machine's time, and short.
  var faults: [FaultRule] {
    Fault.Surface.allCases.flatMap { surface in
      Fault.Kind.allCases.filter { $0.description.surfaces.contains(surface) && $0 != .hourlyLimit && $0 != .revoked }
        .map { kind in
          let value: Int64? =
            switch kind {
            case .rateLimited: 300
            case .slow: 100
            case .stalled: 500
            default: nil
            }
          var rule = FaultRule(Fault(kind, value), on: surface, times: nil)
          rule.percent = percent
          return rule
        }
    }
  }
}
