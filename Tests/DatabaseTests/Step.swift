@testable import Database

/// Where two blocking threads meet: each waits for the other, up to two minutes.
///
/// For bodies of transactions, which are synchronous and on threads of their own.
final class Step: Sendable {
  private let arrived = Atomic<Int>(0)

  func arriveAndWait(for count: Int = 2) {
    arrived.add(1, ordering: .sequentiallyConsistent)
    for _ in 0..<120_000 where arrived.load(ordering: .sequentiallyConsistent) < count { usleep(1_000) }
  }
}

extension Session {
  /// What the server has counted of this session, by the name in SHOW STATUS.
  func counted(_ name: String) throws(DatabaseError) -> Int {
    let row = try query("SHOW SESSION STATUS WHERE Variable_name = \(name)").first
    return Int(try row?.text("Value") ?? "") ?? -1
  }
}

/// Has another session end this one, so that its next statement finds the connection gone.
func kill(_ session: Session) throws(DatabaseError) {
  let killer = try Session(session.configuration)
  try killer.run("KILL \(digits: Int64(session.connectionID))")
}
