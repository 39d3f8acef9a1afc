import Database
import HTTPServer
import Ledger
import Runtime
import Seeding

struct PoolService: Service {
  let pool: Pool

  func run() async throws {
    await untilCancelled()
    await pool.close()
  }
}

/// Stops first: requests that wait for a lookup get the stored data, and do not delay the server's stop.
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
