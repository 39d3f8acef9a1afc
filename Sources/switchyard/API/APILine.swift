import AppStore
import Database
import HTTPClient
import Runtime
import Seeding
import Signing
import Time

/// The way to Apple that the command line describes: host, proxy, roots, and within which budget.
struct APILine: Sendable {
  static let fileLimit = 1 << 20

  let client: AppStoreClient
  let verifier: SignedDataVerifier

  /// - Parameter pool: of the ledger in which the budget is shared; nil: it is this command's own.
  init(_ arguments: ParsedArguments, sharing pool: Pool?) throws {
    var roots: [RootCertificate] = []
    for root in arguments.values("root") { roots += try TrustOptions.read(root) }
    verifier = SignedDataVerifier(roots: roots.isEmpty ? .apple : TrustedRoots(exactly: roots))
    var configuration = HTTPClientConfiguration()
    configuration.proxy = arguments.value("proxy")
    if let root = arguments.value("tls-root") {
      configuration.additionalRoots = try Input.read(root, limit: Self.fileLimit)
    }
    let timing = CallTiming(clock: .system)
    let base = arguments.value("base-url")
    let gate = BudgetGate(
      store: pool.map { LedgerBudgets(pool: $0) } ?? SharedBudgets().member("command"), timing: timing,
      bounds: { base == nil ? .documented($0) : .unknown($0) })
    client = AppStoreClient(
      http: HTTPClient(configuration), hosts: base.map { AppStoreHosts(simulator: $0) } ?? .apple, gate: gate,
      timing: timing)
  }

  func end() async { await client.end() }
}
