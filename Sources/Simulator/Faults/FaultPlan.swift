package import Time

/// The active faults and their counts, reproducible for the same seed and order of calls.
package struct FaultPlan: Sendable {
  package struct Call: Hashable, Sendable {
    package var surface: Fault.Surface
    /// The API operation, the notification type, or empty.
    package var operation: String
    package var bundleID: String

    package init(_ surface: Fault.Surface, operation: String = "", bundleID: String = "") {
      self.surface = surface
      self.operation = operation
      self.bundleID = bundleID
    }
  }

  package struct Entry: Sendable {
    package let number: Int
    package let rule: FaultRule
    package fileprivate(set) var matched = 0
    package fileprivate(set) var struck = 0
    fileprivate var random: SplitMix64
    /// The calls in the current hour or second, for `hourlyLimit` and `secondLimit`.
    fileprivate var windows: [Call: (number: Int64, calls: Int64)] = [:]
  }

  package private(set) var entries: [Entry] = []
  private let seed: UInt64
  private var count = 0
  package static let limit = 1_000

  package init(seed: UInt64) { self.seed = seed }

  /// Adds a rule and returns its number; `nil` above the limit.
  package mutating func add(_ rule: FaultRule) -> Int? {
    guard entries.count < Self.limit else { return nil }
    count += 1
    entries.append(Entry(number: count, rule: rule, random: SplitMix64(seed: seed, part: count)))
    return count
  }

  /// Removes a rule; false if it does not exist.
  package mutating func remove(_ number: Int) -> Bool {
    guard let index = entries.firstIndex(where: { $0.number == number }) else { return false }
    entries.remove(at: index)
    return true
  }

  package mutating func removeAll() { entries = [] }

  package mutating func strike(_ call: Call, at now: Timestamp) -> [Fault] {
    var faults: [Fault] = []
    for index in entries.indices {
      if let fault = entries[index].strike(call, at: now) { faults.append(fault) }
    }
    return faults
  }
}

extension FaultPlan.Entry {
  fileprivate mutating func strike(_ call: FaultPlan.Call, at now: Timestamp) -> Fault? {
    guard rule.surface == call.surface, rule.operation ?? call.operation == call.operation,
      rule.bundleID ?? call.bundleID == call.bundleID, rule.times.map({ struck < $0 }) ?? true
    else { return nil }
    matched += 1
    guard matched > rule.skip, rule.percent == 100 || random.chance(rule.percent) else { return nil }
    switch rule.fault.kind {
    case .hourlyLimit: return count(call, in: 3_600_000, at: now)
    case .secondLimit: return count(call, in: 1_000, at: now)
    default:
      struck += 1
      return rule.fault
    }
  }

  /// Returns a rate limit for the rest of the hour or second once its calls are used up.
  private mutating func count(_ call: FaultPlan.Call, in length: Int64, at now: Timestamp) -> Fault? {
    let number = now.sinceEpoch / length
    let before = windows[call].map { $0.number == number ? $0.calls : 0 } ?? 0
    windows[call] = (number, before + 1)
    guard before >= rule.fault.value else { return nil }
    struck += 1
    return Fault(.rateLimited, (number + 1) * length - now.sinceEpoch)
  }
}
