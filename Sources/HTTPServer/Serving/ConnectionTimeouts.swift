import Time

struct ConnectionTimeouts {
  private var deadline: Deadline
  private var waitsSince: Deadline
  private var isSilent = true
  private(set) var isWaiting = true

  /// Creates the limits of a new connection, whose first byte must arrive within `interval`.
  init(withSilence interval: Interval) {
    waitsSince = .now()
    deadline = waitsSince + interval
  }

  /// Records new bytes; the first of a request begin the time in which it must arrive.
  mutating func heard(requestWithin interval: Interval) {
    isSilent = false
    if isWaiting { begin(within: interval) }
  }

  mutating func begin(within interval: Interval) {
    isWaiting = false
    deadline = .in(interval)
  }

  mutating func awaitRequest(within interval: Interval) {
    isWaiting = true
    waitsSince = .now()
    deadline = waitsSince + interval
  }

  enum End { case silent, idle, slow }

  /// Returns the limit that is exceeded at `now`; `nil` before.
  ///
  /// - Parameter mostSilence: the limit of waiting for a request now; nil means the usual one.
  func end(at now: Deadline, mostSilence: Interval?) -> End? {
    if isWaiting, let mostSilence, waitsSince + mostSilence < now { return .silent }
    guard deadline < now else { return nil }
    return isWaiting ? isSilent ? .silent : .idle : .slow
  }
}
