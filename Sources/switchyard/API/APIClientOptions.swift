import AppStore
import Database
import HTTPClient
import Runtime
import Seeding
import Signing
import Time

/// The client options of the command line: hosts, proxy, roots and budget.
struct APIClientOptions: Sendable {
  static let fileLimit = 1 << 20

  let client: AppStoreClient
  let verifier: SignedDataVerifier

  /// - Parameters:
  ///   - hosts: nil: Apple's.
  ///   - pool: of the ledger in which the budget is shared; nil: this command has its own budget.
  init(_ arguments: ParsedArguments, _ hosts: AppStoreHosts?, sharing pool: Pool?) throws {
    verifier = SignedDataVerifier(roots: try TrustOptions(arguments).roots)
    var configuration = HTTPClientConfiguration()
    configuration.proxy = arguments.value("proxy")
    if let root = arguments.value("tls-root") {
      configuration.additionalRoots = try Input.read(root, limit: Self.fileLimit)
    }
    let timing = CallTimeSource(clock: .system)
    let gate = RateLimiter(
      store: pool.map { DatabaseRateLimitStore(pool: $0) } ?? InMemoryRateLimitStore().member("command"),
      timing: timing,
      bounds: { hosts == nil ? .documented($0) : .unknown($0) })
    client = AppStoreClient(
      http: HTTPClient(configuration), hosts: hosts ?? .apple, gate: gate, timing: timing)
  }

  func end() async { await client.end() }
}
