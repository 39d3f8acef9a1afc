import Time

/// Says which classes of callers use nearly all that they may have, once a minute for each at most.
struct CapacityMonitor {
  private var quietUntil: [HTTPCapacity: PerCallerClass<Deadline>] = [:]

  /// What is to be reported now.
  mutating func report(_ core: ServerCore, at now: Deadline) -> [HTTPServerEvent] {
    var events: [HTTPServerEvent] = []
    for kind in HTTPCapacity.allCases {
      let capacity = core.capacity(kind)
      for caller in CallerClass.allCases where capacity.isNearlyFull(for: caller) {
        var quiet = quietUntil[kind] ?? PerCallerClass { _ in Deadline(milliseconds: .min) }
        guard quiet[caller] <= now else { continue }
        quiet[caller] = now + .seconds(60)
        quietUntil[kind] = quiet
        events.append(.nearlyFull(kind, caller, used: capacity.used(by: caller)))
      }
    }
    return events
  }
}

extension PartitionedCapacity {
  /// Whether a class uses something, and four fifths of all that it could have.
  func isNearlyFull(for caller: CallerClass) -> Bool { used(by: caller) > 0 && fullness(for: caller) >= 0.8 }
}
