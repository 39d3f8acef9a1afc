import Time

/// How long a connection may go on with what it does.
struct ConnectionTimeouts {
  private var deadline: Deadline
  private var waitsSince: Deadline
  /// Whether no byte has ever come.
  private var isSilent = true
  /// Whether nothing of a request has arrived.
  private(set) var isWaiting = true

  /// Creates the patience with a new connection: for `interval` it may say nothing.
  init(withSilence interval: Interval) {
    waitsSince = .now()
    deadline = waitsSince + interval
  }

  /// Notes that bytes came; the first of a request begin the time in which it must arrive.
  mutating func heard(requestWithin interval: Interval) {
    isSilent = false
    if isWaiting { begin(within: interval) }
  }

  /// Begins something that must be done in time.
  mutating func begin(within interval: Interval) {
    isWaiting = false
    deadline = .in(interval)
  }

  /// Begins to wait for the next request.
  mutating func awaitRequest(within interval: Interval) {
    isWaiting = true
    waitsSince = .now()
    deadline = waitsSince + interval
  }

  enum End { case silent, idle, slow }

  /// Returns what is over at `now`; nil while there is time left.
  ///
  /// - Parameter mostSilence: how long one may wait for a request now; nil where nothing forbids the usual time.
  func end(at now: Deadline, mostSilence: Interval?) -> End? {
    if isWaiting, let mostSilence, waitsSince + mostSilence < now { return .silent }
    guard deadline < now else { return nil }
    return isWaiting ? isSilent ? .silent : .idle : .slow
  }
}
