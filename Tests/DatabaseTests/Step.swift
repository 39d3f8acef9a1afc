import Glibc
import Synchronization

@testable import Database

/// Where two blocking threads meet: each waits for the other, up to ten seconds.
///
/// For bodies of transactions, which are synchronous and on threads of their own.
final class Step: Sendable {
  private let arrived = Atomic<Int>(0)

  func arriveAndWait(for count: Int = 2) {
    arrived.add(1, ordering: .sequentiallyConsistent)
    for _ in 0..<10_000 where arrived.load(ordering: .sequentiallyConsistent) < count { usleep(1_000) }
  }
}

/// Has another session end this one, so that its next statement finds the connection gone.
func kill(_ session: Session) throws(DatabaseError) {
  let killer = try Session(session.configuration)
  _ = try killer.execute("KILL \(session.connectionID)")
}
