import Synchronization
import Time

/// How many bytes of strangers' claims are kept of each app in a day (UTC), so that whoever has an app's secret cannot fill
/// the disk from many addresses.
///
/// Of this process alone. One that starts in the middle of a day has the part of the stock that is left of the day.
final class ClaimedStock: Sendable {
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

  /// Returns whether a message of `bytes` is to be kept, and takes them from the app's stock.
  func take(_ bytes: Int, of app: String, at now: Milliseconds) -> Bool {
    let day = now.sinceEpoch / Self.day
    return state.withLock { state in
      if state.day.map({ $0 < day }) ?? true {
        let left = state.day == nil ? Double(Self.day - now.sinceEpoch % Self.day) / Double(Self.day) : 1
        state = State(day: day, size: Double(size) * left)
      }
      let taken = state.taken[app, default: 0] + bytes
      guard Double(taken) <= state.size else { return false }
      state.taken[app] = taken
      return true
    }
  }
}
