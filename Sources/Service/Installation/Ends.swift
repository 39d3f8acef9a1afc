import Database
import HTTPServer
import Ledger
import Runtime
import Seeding

/// Closes the pool when everything that borrows from it has ended.
struct PoolService: Service {
  let pool: Pool

  func run() async throws {
    await untilCancelled()
    await pool.close()
  }
}

/// Stopped first: requests that wait for a look-up are answered with what is known, and do not hold up the server's stop.
struct WaitShutdown: Service {
  let seeding: HistoryJobWorker

  func run() async throws {
    await untilCancelled()
    seeding.endWaits()
  }
}

struct CommitService: Service {
  let commit: GroupCommit

  func run() async throws { await commit.run() }
}

struct ServerService: Service {
  let server: HTTPServer

  func run() async throws { try await server.run() }
}
