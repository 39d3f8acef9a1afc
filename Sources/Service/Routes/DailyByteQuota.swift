import Synchronization
import Time

/// Limits the bytes of strangers' claims that are stored for each app in a day (UTC).
///
/// Without it any sender with an app's secret could fill the disk from many addresses. A message counts with its size
/// in the database, because many short ones would fill the disk, too. The limit applies to this process. One that
/// starts in the middle of a day gets a proportional part.
final class DailyByteQuota: Sendable {
  private struct State {
    var day: Int64?
    var size: Double
    var taken: [String: Int] = [:]
  }

  private let size: Int
  private let state: Mutex<State>

  private static let day: Int64 = 86_400_000

  init(_ size: Int) {
    self.size = size
    state = Mutex(State(size: Double(size)))
  }

  struct Taken {
    let app: String
    let bytes: Int
    fileprivate let day: Int64
  }

  /// Takes a message's bytes from the app's quota; `nil` if too few are left.
  ///
  /// - Parameters:
  ///   - body: its bytes.
  ///   - rows: its number of rows in the ledger.
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

  func give(back taken: Taken) {
    state.withLock { state in
      guard state.day == taken.day else { return }
      state.taken[taken.app, default: taken.bytes] -= taken.bytes
    }
  }

  /// The approximate overhead of a message in the database, and of each of its rows.
  private static let head = 2_048
  private static let row = 512
}
