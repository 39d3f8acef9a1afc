@testable import Operations

@Suite struct `What open look-ups wait for` {
  @Test func `is a process, the one that is gone, the one that asks, or a time and its reason`() async throws {
    let here = try await Operated()
    let (scope, now) = (AppScope(app: here.app.id, environment: .sandbox), Operated.now)
    func wait() async throws -> LookUpWait? {
      try await here.connection.read { session throws(DatabaseError) in
        try LookUpWait.read(scope, at: now, in: session)
      }
    }
    func leased(by process: UInt8) async throws -> [LeasedHistoryJob] {
      try await here.connection.transaction { session throws(DatabaseError) in
        try HistoryJobTable.lease(
          HistoryJobTable.Selection(scope), limit: 1, until: now + .minutes(14),
          owner: WorkOwner.next(of: [UInt8](repeating: process, count: 16)), at: now, in: session
        ).customers
      }
    }
    #expect(try await wait() == nil)
    try await here.connection.read { session throws(DatabaseError) in
      try HistoryJobTable.askAgain(["1", "2"], in: scope, unlessDoneSince: now, at: now, in: session)
    }
    #expect(try await wait()?.cause == .noProcess)
    try await here.connection.read { session throws(DatabaseError) in
      try ProcessTable.beat([UInt8](repeating: 9, count: 16), name: "web-2:9", in: session)
    }
    #expect(try await wait() == nil, "they are due, and somebody asks")
    let alive = try await leased(by: 9)
    let gone = try await leased(by: 1)
    let waiting = try await wait()
    #expect(waiting?.text == "1 id leased by a process that is gone: free within 15 s")
    #expect(waiting?.until == now + .seconds(15))
    try await here.connection.transaction { session throws(DatabaseError) in
      try HistoryJobTable.settle(
        gone.map { ($0, .again(at: now + .minutes(5), reason: "unauthorized 401")) }, at: now, in: session)
    }
    #expect(try await wait()?.text == "1 id about which web-2:9 asks Apple now")
    try await here.connection.transaction { session throws(DatabaseError) in
      try HistoryJobTable.settle(alive.map { ($0, .closed(.unknown, reason: "")) }, at: now, in: session)
    }
    let put = try await wait()
    #expect(put?.cause == .putOff)
    #expect(put?.text == "the next try at \((now + .minutes(5)).iso8601) (unauthorized 401)")
    // What came since says nothing by itself of why nobody is asked about.
    try await here.execute(
      "UPDATE work SET reason = \("\(HistoryJobTable.closedDoor): unauthorized 401") WHERE state = 0")
    try await here.connection.read { session throws(DatabaseError) in
      try HistoryJobTable.askAgain(["3"], in: scope, unlessDoneSince: now, at: now, in: session)
    }
    let held = try await wait()
    #expect(held?.text.hasSuffix("(\(HistoryJobTable.closedDoor): unauthorized 401)") == true)
  }
}
