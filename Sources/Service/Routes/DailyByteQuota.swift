import Synchronization
import Time

/// Limits how many bytes of strangers' claims are kept for each app in a day (UTC).
///
/// Without it anybody with an app's secret could fill the disk, from many addresses.
///
/// A message counts as much as it takes in the database, not its body alone: many short ones would fill the disk, too.
///
/// Of this process alone. One that starts in the middle of a day has the part of the stock that is left of the day.
final class DailyByteQuota: Sendable {
  private struct State {
    var day: Int64?
    /// Bytes that each app has in this day.
    var size: Double
    var taken: [String: Int] = [:]
  }

  private let size: Int
  private let state: Mutex<State>

  private static let day: Int64 = 86_400_000

  /// - Parameter size: bytes for each app and day.
  init(_ size: Int) {
    self.size = size
    state = Mutex(State(size: Double(size)))
  }

  /// What was taken for one message.
  struct Taken {
    let app: String
    let bytes: Int
    fileprivate let day: Int64
  }

  /// Takes the room that a message needs from the app's stock; nil if not enough is left.
  ///
  /// - Parameters:
  ///   - body: its bytes.
  ///   - rows: of the ledger that it makes.
  func take(_ body: Int, rows: Int, of app: String, at now: Timestamp) -> Taken? {
    let (day, bytes) = (now.sinceEpoch / Self.day, body + Self.head + rows * Self.row)
    return state.withLock { state in
      // A clock that was ahead for more than a day was wrong.
      if state.day.map({ $0 < day || day + 1 < $0 }) ?? true {
        let left = state.day == nil ? Double(Self.day - now.sinceEpoch % Self.day) / Double(Self.day) : 1
        state = State(day: day, size: Double(size) * left)
      }
      let taken = state.taken[app, default: 0] + bytes
      guard Double(taken) <= state.size else { return nil }
      state.taken[app] = taken
      return Taken(app: app, bytes: bytes, day: day)
    }
  }

  /// Gives back what was taken for a message that was not kept.
  func give(back taken: Taken) {
    state.withLock { state in
      guard state.day == taken.day else { return }
      state.taken[taken.app, default: taken.bytes] -= taken.bytes
    }
  }

  /// About what a message takes in the database beside its body, and each of its rows.
  private static let head = 2_048
  private static let row = 512
}
