/// The free space of the database's disk, which limits the classes of entries that are written.
package enum DiskSpaceLevel: Int, Hashable, Sendable, Comparable {
  case ample = 0
  /// Less than the headroom is free: unverified messages and strangers' claims are not kept.
  case low = 1
  /// Less than half of the headroom is free: entries that every holder of an old app copy can create are not kept.
  case scarce = 2
  /// Less than a quarter of the headroom is free: no entry is written, so that space does not run out.
  case full = 3

  /// - Parameters:
  ///   - free: the free space in bytes. `nil` if unknown.
  ///   - headroom: the bytes that must stay free. 0: no limit.
  package init(free: UInt64?, headroom: UInt64) {
    guard let free else {
      self = .ample
      return
    }
    self = free >= headroom ? .ample : free >= headroom / 2 ? .low : free >= headroom / 4 ? .scarce : .full
  }

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension LedgerEntry {
  func isKept(at level: DiskSpaceLevel) -> Bool {
    switch level {
    case .ample: true
    case .low: commitClass != .unproven && !(commitClass == .claimed && isOfStranger)
    case .scarce: !commitClass.isOpenToStrangers && commitClass != .unprovenFromApple
    case .full: false
    }
  }
}
