import Database
import Ledger
import Runtime
import Synchronization
import Time

/// A cache of each app's notification health, so that many requests share one query.
final class NotificationHealthCache: Sendable {
  private let known = Mutex<[AppScope: (flow: NotificationHealth, readAt: ContinuousClock.Instant)]>([:])
  private let looks = SingleFlight<AppScope, Result<NotificationHealth, DatabaseError>>()
  private let kept: Duration

  init(kept: Duration) { self.kept = kept }

  /// Returns the cached value, or the result of one shared query.
  func flow(
    of scope: AppScope, _ look: @escaping @Sendable () async throws(DatabaseError) -> NotificationHealth
  ) async throws(DatabaseError) -> NotificationHealth {
    let known = known.withLock { $0[scope] }
    if let known, .now - known.readAt < kept { return known.flow }
    let result = await looks.value(of: scope) {
      do throws(DatabaseError) {
        let flow = try await look()
        self.known.withLock { $0[scope] = (flow, .now) }
        return .success(flow)
      } catch { return .failure(error) }
    }
    return try result.get()
  }
}
