import Time
import Wire

extension AppStoreClient {
  /// An id that no customer has: whoever is let in is told that it is unknown.
  private static let nobody = "1"

  /// Asks both environments for an id that nobody has (or for `transactionID`), and tells what their answers mean.
  ///
  /// Only with an id that is the app's can the bundle id be proven.
  package func check(_ credentials: AppCredentials, transactionID: String? = nil) async -> [AccessDiagnosis] {
    var seen: [APIEnvironment: (observation: AccessDiagnosis.Observation, skew: Interval?)] = [:]
    // A clock is judged by a token that was just made.
    tokens.forget(credentials)
    for environment in APIEnvironment.allCases {
      seen[environment] = await observe(environment, credentials, transactionID ?? Self.nobody)
    }
    return APIEnvironment.allCases.map { environment in
      AccessDiagnosis(
        environment, seen[environment]?.observation ?? .failed(.cancelled),
        other: seen[environment.other]?.observation, skew: seen[environment]?.skew,
        askedAboutOwn: transactionID != nil)
    }
  }

  private func observe(
    _ environment: APIEnvironment, _ credentials: AppCredentials, _ transactionID: String
  ) async -> (AccessDiagnosis.Observation, Interval?) {
    do throws(APIError) {
      let reply = try await send(.transactionHistory(of: transactionID), as: credentials, in: environment)
      let skew = reply.serverDate.map { reply.receivedAt - $0 }
      let isEmpty = (reply.answer.signedTransactions ?? []).isEmpty
      return (isEmpty ? .emptyList : .found, skew)
    } catch {
      let skew = error.serverDate.flatMap { date in error.receivedAt.map { $0 - date } }
      return (Self.observation(error), skew)
    }
  }

  private static func observation(_ failure: APIError) -> AccessDiagnosis.Observation {
    switch failure.code {
    case .unauthorized: .unauthorized
    case .rateLimited: .rateLimited
    case .refused:
      switch failure.errorCode {
      case 4_000_002, 4_040_003: .appNotFound
      case .some: .unknownTransaction
      case nil: .failed(.refused)
      }
    case .invalidCall, .noToken, .serverFailed, .unreachable, .untrusted, .interrupted, .malformedAnswer, .tooLarge,
      .overBudget, .endlessPaging, .cancelled:
      .failed(failure.code)
    }
  }
}
