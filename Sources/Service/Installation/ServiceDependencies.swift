import Intake
import Ledger
import Runtime
import Signing
import Time

struct ServiceDependencies {
  let keys: Keyring
  let ledger: LedgerStore
  let registry: AppRegistry
  let intake: IngestDecider
  let commit: GroupCommit
  let clients: HTTPClients
  let metrics: MetricsRegistry
  let counts: ServiceMetrics
  let clock: WallClock
  let logger: Logger
}
