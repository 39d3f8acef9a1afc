import Time

/// Reports classes of callers that use nearly all of their capacity, once a minute for each at most.
struct CapacityMonitor {
  private var quietUntil: [HTTPCapacity: PerCallerClass<Deadline>] = [:]

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
  /// Whether a class uses something, and four fifths of its possible capacity.
  func isNearlyFull(for caller: CallerClass) -> Bool { used(by: caller) > 0 && fullness(for: caller) >= 0.8 }
}
