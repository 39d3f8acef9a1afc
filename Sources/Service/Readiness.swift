import Database
import Ledger
import Runtime
import Synchronization

/// Whether the process accepts requests.
///
/// It checks the database once a second, so that a probe is free and never waits.
final class Readiness: Service {
  private struct State {
    var reason: String? = "starting"
    var askedAt = ContinuousClock.now
  }

  private let pool: Pool
  private let state = Mutex(State())

  private static let period = Duration.seconds(1)
  /// A missing response for this long counts as a failure.
  private static let patience = Duration.seconds(3)

  init(pool: Pool) { self.pool = pool }

  /// The reason why not; `nil` if ready.
  var reason: String? {
    state.withLock { state in
      .now - state.askedAt > Self.patience ? "the database has not answered for seconds" : state.reason
    }
  }

  func run() async throws {
    while !Task.isCancelled {
      let reason = await ask()
      state.withLock { $0 = State(reason: reason, askedAt: .now) }
      try? await Task.sleep(for: Self.period)
    }
    state.withLock { $0.reason = "stopping" }
  }

  private func ask() async -> String? {
    do throws(DatabaseError) {
      let status = try await pool.read { session throws(DatabaseError) in try Migrator().status(in: session) }
      return status.isCurrent ? nil : "the schema is version \(status.installed), this build knows \(status.known)"
    } catch {
      return "the database does not answer (\(error.code))"
    }
  }
}
