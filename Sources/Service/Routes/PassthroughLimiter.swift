import Ledger
import Synchronization

/// Limits the messages in flight to destinations in the stage `legacy`.
///
/// No message waits for, or is rejected because of, messages of less trusted senders.
final class PassthroughLimiter: Sendable {
  /// The proof of a passed-through message, which selects its queue.
  enum Lane: String, Hashable, Sendable, CaseIterable {
    case apple
    /// Signed by Apple, possibly through an unnamed proxy.
    case proven
    case claimed
    case unproven

    /// The largest number in flight to one destination; `nil` means as many as connections for Apple.
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

  /// Takes a slot; false if all of the queue's are taken.
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
