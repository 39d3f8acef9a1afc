import Database
import Time

/// Repeats what has to be done although others hold the rows, or the database is away for a moment.
///
/// The server ends a transaction in which nothing happened for 20 seconds, such as that of a frozen service: everything together
/// is tried for 25 seconds, on a new connection where one broke.
struct PatientConnection: Sendable {
  /// The one to be used for the next try.
  private(set) var connection: Connection
  private let patience: Duration
  private let start = ContinuousClock.now
  private var pauses = 0

  init(_ connection: Connection, for patience: Duration = Self.patience) {
    (self.connection, self.patience) = (connection, patience)
  }

  /// How long a try may wait for a row.
  ///
  /// Notifications of apps whose rows are held already wait for so long, and are taken between two tries. Where commits are slow
  /// a try has to stand in the queue for longer, every third time.
  var lockWait: Interval { pauses % 3 == 2 ? .seconds(5) : .seconds(1) }

  var isOver: Bool { ContinuousClock.now - start >= patience }

  /// Whether an error may end by itself.
  static func isPassing(_ error: DatabaseError) -> Bool {
    error.isRetryable || [.abandoned, .commitOutcomeUnknown].contains(error.code)
  }

  /// Waits until it may be tried again; throws the error where that is of no use, or when the time is over.
  mutating func pause(after error: DatabaseError) async throws {
    guard Self.isPassing(error), !isOver else { throw error }
    pauses += 1
    try await Task.sleep(for: .milliseconds(100))
    guard connection.isPoisoned, !isOver else { return }
    if let fresh = try? await Connection.open(connection.configuration) { connection = fresh }
  }

  static let patience = Duration.seconds(25)
}
