/// How much room is left on the disk that holds the database, and so what may still be written.
package enum DiskSpaceLevel: Int, Hashable, Sendable, Comparable {
  /// At least the headroom is free.
  case ample = 0
  /// Less than the headroom: messages that nothing vouches for are no longer kept, nor what strangers claim with an app's
  /// secret.
  case low = 1
  /// Less than half of the headroom: nothing is kept either that anybody with an old copy of an app can make, so that what
  /// Apple signs has a part of the disk for itself.
  case scarce = 2
  /// Less than a quarter of the headroom: nothing is written any more, so that the database does not die in the middle.
  case full = 3

  /// - Parameters:
  ///   - free: bytes that may still be written; nil when it cannot be asked.
  ///   - headroom: bytes that are to stay free; 0: whatever is free is enough.
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
  /// Whether it is written while the disk has no more room than this.
  func isKept(at level: DiskSpaceLevel) -> Bool {
    switch level {
    case .ample: true
    case .low: commitClass != .unproven && !(commitClass == .claimed && isOfStranger)
    case .scarce: !commitClass.isOpenToStrangers && commitClass != .unprovenFromApple
    case .full: false
    }
  }
}
