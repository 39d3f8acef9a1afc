import Ledger
import Synchronization

/// What is on its way to old back ends in the stage `legacy`, so that nobody's messages wait for, or are refused because
/// of, those of somebody who may be less trusted.
final class PassthroughLimiter: Sendable {
  /// By what a message is passed through.
  enum Lane: String, Hashable, Sendable, CaseIterable {
    /// It comes from Apple's networks.
    case apple
    /// Apple signed it; a proxy that is not named may have brought it.
    case proven
    /// It has the app's shared secret.
    case claimed
    /// Nothing vouches for it.
    case unproven

    /// How many may be on their way to one destination at once; nil: as many as there are connections for Apple.
    var most: Int? {
      switch self {
      case .apple: nil
      case .proven: 256
      case .claimed: 64
      case .unproven: 16
      }
    }
  }

  private struct Place: Hashable {
    let destination: Destination.ID
    let lane: Lane
  }

  private let counts = Mutex<[Place: Int]>([:])

  /// Takes a slot; false if all of the lane's are taken.
  func take(_ lane: Lane, to destination: Destination) -> Bool {
    counts.withLock { counts in
      let place = Place(destination: destination.id, lane: lane)
      let count = counts[place, default: 0]
      if let most = lane.most, count >= most { return false }
      counts[place] = count + 1
      return true
    }
  }

  func give(back lane: Lane, to destination: Destination) {
    counts.withLock { counts in
      let place = Place(destination: destination.id, lane: lane)
      let left = counts[place, default: 1] - 1
      counts[place] = left > 0 ? left : nil
    }
  }
}
