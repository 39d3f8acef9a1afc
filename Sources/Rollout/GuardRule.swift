/// When an app's answers of ours are taken back by themselves.
package struct GuardRule: Hashable, Sendable {
  /// The rate of customers with an impact above which it goes back to `shadow`, in a million.
  package var mostImpact = 10_000
  /// Seconds: the span of time that is looked at.
  package var window = 3_600
  /// Customers who must have been compared in it; with fewer nothing is decided about the impact.
  package var leastCustomers = 100
  /// By how much the rate of our calls without an answer may exceed Apple's, in a million; 0: errors do not count.
  package var mostErrors = 10_000
  /// How many times as long as Apple's p99 ours may be, in hundredths; 0: latency does not count.
  package var mostLatency = 200
  /// Calls that must have been counted in the window; with fewer nothing is decided about errors and latency.
  package var leastCalls = 200

  /// Milliseconds: a p99 up to this is never too slow, however fast Apple is.
  package static let fastEnough = 500
  /// Calls of Apple that errors are judged by at least, and errors of ours: one of few tells nothing.
  package static let leastAppleCalls = 20
  package static let leastErrors = 5

  package init() {}

  package enum Status: Hashable, Sendable {
    /// Too few customers were compared: the stage stays, and goes no further.
    case held
    case sound
    case breached(GuardBreach)

    /// One word: `held`, `sound` or `breached`.
    package var name: String {
      switch self {
      case .held: "held"
      case .sound: "sound"
      case .breached: "breached"
      }
    }

    /// The threshold that was exceeded; nil for none.
    package var breach: GuardBreach? {
      switch self {
      case .held, .sound: nil
      case .breached(let breach): breach
      }
    }
  }

  /// The verdict about the impact alone.
  ///
  /// - Parameters:
  ///   - customers: compared since the stage was set, within the window.
  ///   - affected: those of them with an impact that counts.
  package func verdict(customers: Int, affected: Int) -> Status {
    guard customers >= max(1, leastCustomers) else { return .held }
    return affected * 1_000_000 > mostImpact * customers
      ? .breached(.impact(affected: affected, customers: customers)) : .sound
  }

  /// The verdict about impact, errors and latency: the first of these that is exceeded.
  ///
  /// Errors and latency that cannot be judged breach nothing; `held` tells of the impact alone.
  package func verdict(of figures: GuardStatistics) -> Status {
    let byImpact = verdict(customers: figures.customers, affected: figures.affected)
    if byImpact.breach != nil { return byImpact }
    if let breach = errorBreach(figures) ?? latencyBreach(figures) { return .breached(breach) }
    return byImpact
  }

  /// `held` with how many customers of how many are known, and with their rate if it is above the threshold:
  /// `held (85 of 100 customers, 8 % above 1 %)`.
  package func held(_ figures: GuardStatistics) -> String {
    var text = "held (\(figures.customers) of \(max(1, leastCustomers)) customers"
    if figures.customers > 0, figures.affected * 1_000_000 > mostImpact * figures.customers {
      let rate = figures.affected * 1_000_000 / figures.customers
      // Whole percents, unless that would hide by how much it is above.
      let shown = rate >= mostImpact + 10_000 ? (rate + 5_000) / 10_000 * 10_000 : rate + 99
      text += ", \(Self.percent(shown)) above \(Self.percent(mostImpact))"
    }
    return text + ")"
  }

  /// A rate in a million as a percentage with at most two decimals, such as `0.25 %`.
  ///
  /// What is above 100 % is shown as `100 %`.
  package static func percent(_ perMillion: Int) -> String {
    RampPercentage(hundredths: min(max(perMillion / 100, 0), Bucket.count)).map { "\($0)" } ?? ""
  }

  /// More of our calls got no answer than of Apple's, by more than may.
  ///
  /// Where Apple fails nearly as often, or was not asked, going back to `shadow` would help nobody.
  private func errorBreach(_ figures: GuardStatistics) -> GuardBreach? {
    let (ours, apple) = (figures.ours, figures.apple)
    guard mostErrors > 0, ours.calls >= max(1, leastCalls), apple.calls >= Self.leastAppleCalls,
      ours.errors >= Self.leastErrors, ours.errorRate - apple.errorRate > Double(mostErrors) / 1_000_000
    else { return nil }
    return .errors(ours.errors, calls: ours.calls, appleErrors: apple.errors, appleCalls: apple.calls)
  }

  /// Our p99 is more than so many times Apple's.
  ///
  /// Surely so, whatever the steps by which times are counted. Apple's calls without an answer count as its slowest.
  private func latencyBreach(_ figures: GuardStatistics) -> GuardBreach? {
    let (ours, apple) = (figures.ours, figures.apple)
    guard mostLatency > 0, min(ours.calls - ours.errors, apple.calls) >= max(1, leastCalls),
      let slowest = ours.slowest, let applesSlowest = apple.slowest,
      // Ours took more than `slowest`.
      slowest >= Self.fastEnough, slowest * 100 >= mostLatency * applesSlowest
    else { return nil }
    return .latency(milliseconds: slowest, appleMilliseconds: applesSlowest)
  }
}
