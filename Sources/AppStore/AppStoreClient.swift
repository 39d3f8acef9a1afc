package import HTTPClient
import JSON
import Mappings
import Signing
package import Time

/// Asks Apple, with manners: within the budget, again only where that is safe, each failure with its reason.
public final class AppStoreClient: Sendable {
  /// What a client puts up with.
  package struct Limits: Sendable {
    /// From a request to the last byte of its answer.
    package var deadline = Interval.seconds(30)
    /// Bytes of an answer; a page of history takes about 200 KB.
    package var answer = 16 << 20
    package var interactive = RetryPolicy.interactive
    package var bulk = RetryPolicy.bulk

    package init() {}
  }

  private let http: HTTPClient
  private let hosts: AppStoreHosts
  private let gate: RateLimiter
  let tokens: TokenIssuer
  private let limits: Limits
  private let observe: @Sendable (CallRecord) -> Void
  package let timing: CallTimeSource

  /// - Parameters:
  ///   - http: its `connectionsPerHost` should exceed the number of bulk calls made at once, so that over HTTP/1.1 an
  ///     interactive call finds a connection.
  ///   - observe: is told of every attempt; it must not block.
  package init(
    http: HTTPClient, hosts: AppStoreHosts = .apple, gate: RateLimiter, timing: CallTimeSource,
    tokens: TokenIssuer = TokenIssuer(), limits: Limits = Limits(),
    observe: @escaping @Sendable (CallRecord) -> Void = { _ in }
  ) {
    self.http = http
    self.hosts = hosts
    self.gate = gate
    self.timing = timing
    self.tokens = tokens
    self.limits = limits
    self.observe = observe
  }

  /// Asked when the budget has let a call go, before it is sent: false takes it back, and it ends as cancelled.
  package typealias Beginning = @Sendable () async -> Bool

  /// Makes a call and gives Apple's answer, or why there is none.
  package func send<Answer>(
    _ call: APIRequest<Answer>, as credentials: AppCredentials, in environment: APIEnvironment,
    _ priority: RateLimiter.Priority = .interactive, if begin: Beginning? = nil
  ) async throws(APIError) -> APIResponse<Answer> {
    let target = try call.target()
    let key = RateLimitKey(app: credentials.bundleID, endpoint: call.endpoint, environment: environment)
    return try await repeating(key, priority, if: begin) { () throws(APIError) in
      let request = try self.request(call, target, credentials, environment)
      do throws(APIError) {
        return try await self.attempt(request, call.endpoint, environment) { reading, response throws(APIError) in
          try reading.reply(to: call, response)
        }
      } catch {
        if error.code == .unauthorized { self.tokens.forget(credentials) }
        throw error
      }
    } attempts: { reply, attempts in
      APIResponse(
        answer: reply.answer, json: reply.json, body: reply.body, environment: reply.environment,
        serverDate: reply.serverDate, receivedAt: reply.receivedAt, attempts: attempts)
    }
  }

  /// Ends it: closes its connections, and gives its share of the budget to those who go on.
  public func end() async {
    await http.shutdown()
    await gate.leave()
  }

  /// How long so many calls of bulk will take, those in line before them included.
  package func forecast(
    _ calls: Int, of endpoint: Endpoint, app: String, in environment: APIEnvironment
  ) -> RateLimitForecast {
    gate.forecast(calls: calls, RateLimitKey(app: app, endpoint: endpoint, environment: environment))
  }

  /// Whether so many further calls of bulk would all go within `interval`, as far as is known now.
  package func isOpen(
    to calls: Int, within interval: Interval, of endpoint: Endpoint, app: String, in environment: APIEnvironment
  ) -> Bool {
    gate.isOpen(to: calls, within: interval, RateLimitKey(app: app, endpoint: endpoint, environment: environment))
  }

  // MARK: Once

  private func request<Answer>(
    _ call: APIRequest<Answer>, _ target: String, _ credentials: AppCredentials, _ environment: APIEnvironment
  ) throws(APIError) -> ClientRequest {
    let token: String
    do throws(CertificateError) {
      token = try tokens.token(for: credentials, now: timing.clock.now())
    } catch {
      throw APIError(.noToken, call.endpoint, "\(error)")
    }
    var headers = [("Authorization", "Bearer \(token)"), ("Accept", "application/json")]
    let body: [UInt8]
    switch call.body {
    case .none: body = []
    case .json(let object):
      headers.append(("Content-Type", "application/json"))
      body = object.encoded()
    case .png(let bytes):
      headers.append(("Content-Type", "image/png"))
      body = bytes
    }
    return request(hosts.base(call.endpoint, environment) + target, call.endpoint, headers, body)
  }

  func request(
    _ url: String, _ endpoint: Endpoint, _ headers: [(String, String)], _ body: [UInt8]
  ) -> ClientRequest {
    ClientRequest(
      method: endpoint.row.method, url: url, headers: headers.map { (name: $0.0, value: $0.1) }, body: body,
      deadline: limits.deadline, responseLimit: limits.answer, mayRepeat: endpoint.row.isRepeatable)
  }

  /// The URL of the legacy endpoint.
  func receiptURL(_ environment: APIEnvironment) -> String {
    hosts.base(.verifyReceipt, environment) + Endpoint.verifyReceipt.row.path
  }

  /// Sends one request and reads the response.
  func attempt<Value: Sendable>(
    _ request: ClientRequest, _ endpoint: Endpoint, _ environment: APIEnvironment,
    _ read: (ResponseClassifier, ClientResponse) throws(APIError) -> Value
  ) async throws(APIError) -> Value {
    let begun = timing.clock.now()
    func reading() -> ResponseClassifier {
      ResponseClassifier(
        endpoint: endpoint, environment: environment, limits: JSONLimits(bytes: limits.answer, depth: 32),
        now: timing.clock.now())
    }
    let response: ClientResponse
    do throws(HTTPClientError) {
      response = try await http.send(request)
    } catch {
      throw reading().failure(error)
    }
    observe(
      CallRecord(
        endpoint: endpoint, environment: environment, status: response.status, took: timing.clock.now() - begun))
    return try read(reading(), response)
  }

  // MARK: Again

  /// Makes attempts within the budget until one is answered, or the policy gives up.
  func repeating<Value: Sendable>(
    _ key: RateLimitKey, _ priority: RateLimiter.Priority, if begin: Beginning? = nil,
    _ attempt: () async throws(APIError) -> Value, attempts count: (Value, Int) -> Value
  ) async throws(APIError) -> Value {
    let policy = policy(priority)
    let begun = timing.clock.now()
    var made = 0
    var mayHaveActed = false
    while true {
      let grant = try await pass(key, priority, until: begun + policy.within, made, mayHaveActed)
      if made == 0, let begin, await !begin() {
        throw APIError(.cancelled, key.endpoint, "taken back when its turn came")
      }
      made += 1
      do throws(APIError) {
        let value = try await attempt()
        gate.answered(grant, key)
        return count(value, made)
      } catch {
        var failure = error
        failure.attempts = made
        failure.environment = key.environment
        // What an earlier attempt may have done is not undone by how this one ended.
        mayHaveActed = mayHaveActed || failure.mayHaveActed
        failure.mayHaveActed = mayHaveActed
        await settle(grant, key, failure)
        if failure.status == nil {
          observe(CallRecord(endpoint: key.endpoint, environment: key.environment, failure: failure.code))
        }
        let now = timing.clock.now()
        switch policy.decision(after: failure, attempt: made, begun: begun, now: now, jitter: timing.jitter()) {
        case .giveUp: throw failure
        case .again(let wait):
          // Asleep for want of an answer, not in line: others may go meanwhile.
          do { try await timing.sleep(wait) } catch { throw failure.cancelled }
        }
      }
    }
  }

  private func policy(_ priority: RateLimiter.Priority) -> RetryPolicy {
    switch priority {
    case .interactive: limits.interactive
    case .begun, .bulk, .claimed, .unverified: limits.bulk
    }
  }

  private func pass(
    _ key: RateLimitKey, _ priority: RateLimiter.Priority, until deadline: Timestamp, _ made: Int,
    _ mayHaveActed: Bool
  ) async throws(APIError) -> RateLimiterState.Permit {
    do {
      return try await gate.pass(key, priority, until: deadline)
    } catch {
      var failure = error as? APIError ?? APIError(.cancelled, key.endpoint, "cancelled while in line")
      failure.environment = key.environment
      failure.attempts = made
      failure.mayHaveActed = mayHaveActed
      throw failure
    }
  }

  private func settle(_ grant: RateLimiterState.Permit, _ key: RateLimitKey, _ failure: APIError) async {
    if failure.code == .rateLimited {
      await gate.refused(grant, key, retryAt: failure.retryAt)
    } else if failure.code == .refused || failure.code == .unauthorized {
      gate.answered(grant, key)
    }
  }
}

/// One attempt, for whoever counts.
package struct CallRecord: Sendable {
  package let endpoint: Endpoint
  package let environment: APIEnvironment
  /// Nil when there was no answer.
  package let status: Int?
  package let failure: APIError.Code?
  package let took: Interval?

  init(endpoint: Endpoint, environment: APIEnvironment, status: Int, took: Interval) {
    self.endpoint = endpoint
    self.environment = environment
    self.status = status
    failure = nil
    self.took = took
  }

  init(endpoint: Endpoint, environment: APIEnvironment, failure: APIError.Code) {
    self.endpoint = endpoint
    self.environment = environment
    status = nil
    self.failure = failure
    took = nil
  }
}

extension APIError {
  /// The same, ended because nobody waits any more.
  var cancelled: Self {
    var failure = APIError(.cancelled, endpoint, "cancelled while waiting to ask again")
    failure.environment = environment
    failure.attempts = attempts
    failure.mayHaveActed = mayHaveActed
    return failure
  }
}
