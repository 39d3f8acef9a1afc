/// In which environments to ask for an id, and in which order.
///
/// A value: what was found out about an id stays with the caller, who gives it as `known` the next time.
public struct EnvironmentSearch: Equatable, Sendable {
  package enum Step: Equatable, Sendable {
    case ask(APIEnvironment)
    case giveUp(APIError)
  }

  /// Still to be asked, in order.
  package private(set) var attempts: [APIEnvironment]
  private var refusals: [APIEnvironment: APIError] = [:]

  /// - Parameters:
  ///   - known: where the id was found before: nowhere else is asked.
  ///   - receiptType: where the receipt that the id is from says it was made; signed, so nowhere else either.
  ///   - hint: what somebody believes: it is asked first.
  ///   - unknownIn: where Apple said that it knows no such id, when the other did not answer: only that one is left.
  public init(
    known: APIEnvironment? = nil, receiptType: APIEnvironment? = nil, hint: APIEnvironment? = nil,
    unknownIn: APIEnvironment? = nil
  ) {
    if let certain = known ?? receiptType ?? unknownIn?.other {
      attempts = [certain]
    } else {
      let first = hint ?? .production
      attempts = [first, first.other]
    }
  }

  /// Where to ask now.
  package var current: APIEnvironment? { attempts.first }

  /// What to do after a failure in `environment`.
  ///
  /// The next environment is asked when this one does not know the id, and when Production does not accept a token that
  /// the sandbox may: an app without a release is unknown there.
  package mutating func failed(_ failure: APIError, in environment: APIEnvironment) -> Step {
    attempts.removeAll { $0 == environment }
    refusals[environment] = failure
    let leads = Self.meansElsewhere(failure) || failure.code == .unauthorized && environment == .production
    if leads, let next = attempts.first { return .ask(next) }
    // Where one does not accept the token, "unknown" in the other is no answer.
    let unauthorized = APIEnvironment.allCases.compactMap { refusals[$0] }.first { $0.code == .unauthorized }
    var end = Self.meansElsewhere(failure) ? unauthorized ?? failure : failure
    if let before = refusals[environment.other], Self.meansElsewhere(before) { end.unknownIn = environment.other }
    return .giveUp(end)
  }

  /// Whether Apple says that it knows no such id here.
  private static func meansElsewhere(_ failure: APIError) -> Bool {
    // TransactionIdNotFoundError, and what older endpoints say instead.
    failure.code == .refused && [4_040_010, 4_040_005].contains(failure.errorCode)
  }
}

extension AppStoreClient {
  /// Makes a call that leaves everything as it is where the route leads; the reply says in which environment it was found.
  ///
  /// Calls that change something need an environment that is known.
  package func send<Answer>(
    _ call: APIRequest<Answer>, as credentials: AppCredentials, along route: EnvironmentSearch,
    _ priority: RateLimiter.Priority = .interactive, if begin: Beginning? = nil
  ) async throws(APIError) -> APIResponse<Answer> {
    var (route, begin) = (route, begin)
    guard var environment = route.current, call.endpoint.isReading || route.attempts.count == 1 else {
      throw APIError(.invalidCall, call.endpoint, "what changes something needs one environment")
    }
    while true {
      do throws(APIError) {
        return try await send(call, as: credentials, in: environment, priority, if: begin)
      } catch {
        // Asked once: it has begun.
        begin = nil
        switch route.failed(error, in: environment) {
        case .ask(let next): environment = next
        case .giveUp(let failure): throw failure
        }
      }
    }
  }
}
