import Database
import Ledger
import Runtime
import Synchronization
import Time

/// How the notifications of each app flow, as it was a moment ago: many requests share one look.
final class NotificationHealthCache: Sendable {
  private let known = Mutex<[AppScope: (flow: NotificationHealth, readAt: ContinuousClock.Instant)]>([:])
  private let looks = SingleFlight<AppScope, Result<NotificationHealth, DatabaseError>>()
  private let kept: Duration

  init(kept: Duration) { self.kept = kept }

  /// Returns what is known, or what one look finds; whoever comes meanwhile waits for that one.
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
