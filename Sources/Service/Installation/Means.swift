import Intake
import Ledger
import Runtime
import Signing
import Time

/// What nearly every part of a process needs.
struct Means {
  let keys: Keyring
  let ledger: Ledger
  let registry: Registry
  let intake: Intake
  let commit: GroupCommit
  let clients: HTTPClients
  let metrics: MetricsRegistry
  let counts: ServiceMetrics
  let clock: WallClock
  let logger: Logger
}
