import HTTPClient
import Runtime
import Time

/// What other packages call: a client of its own connections, whose callers all wait.
extension AppStoreClient {
  /// A client that keeps Apple's documented limits by itself, shared with no other process.
  ///
  /// - Parameter hosts: another App Store Server API than Apple's; its limits are learned from what it refuses.
  public convenience init(hosts: AppStoreHosts? = nil) {
    let timing = CallTimeSource(clock: .system)
    let gate = RateLimiter(
      store: InMemoryRateLimitStore().member("client"), timing: timing,
      bounds: { hosts == nil ? .documented($0) : .unknown($0) })
    self.init(http: HTTPClient(), hosts: hosts ?? .apple, gate: gate, timing: timing)
  }

  /// Makes a call in one environment and gives Apple's answer, or why there is none.
  ///
  /// A call that is safe to repeat is repeated within 20 seconds. Nothing that Apple signed is verified here.
  public func send<Answer>(
    _ call: APIRequest<Answer>, as credentials: AppCredentials, in environment: APIEnvironment
  ) async throws(APIError) -> APIResponse<Answer> {
    try await send(call, as: credentials, in: environment, .interactive)
  }

  /// Makes a call that leaves everything as it is in the environments of a route, one after the other, until one knows the
  /// id; the reply says which.
  public func send<Answer>(
    _ call: APIRequest<Answer>, as credentials: AppCredentials, along route: EnvironmentSearch
  ) async throws(APIError) -> APIResponse<Answer> {
    try await send(call, as: credentials, along: route, .interactive)
  }

  /// Asks verifyReceipt, in the other environment when Apple says so (21007, 21008), again when it says that (21005,
  /// 21009, 211xx, `is_retryable`).
  ///
  /// Every status is an answer; only no answer is a failure.
  public func verifyReceipt(
    _ receipt: ReceiptRequest, along route: EnvironmentSearch = EnvironmentSearch()
  ) async throws(APIError) -> ReceiptAnswer {
    try await verifyReceipt(receipt, app: "", along: route, .interactive)
  }
}
