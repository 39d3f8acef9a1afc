import HTTPClient
import JSON
import Time
import Wire

/// Tells from an HTTP response what it means for a call.
struct ResponseClassifier {
  let endpoint: Endpoint
  let environment: APIEnvironment
  let limits: JSONLimits
  let now: Timestamp

  /// The answer, or the failure that the response says.
  func reply<Answer>(to call: APIRequest<Answer>, _ response: ClientResponse) throws(APIError) -> APIResponse<Answer> {
    guard (200..<300).contains(response.status) else { throw failure(response) }
    if let nothing = call.nothing, call.read == nil || response.body.isEmpty { return reply(nothing, nil, response) }
    guard let read = call.read else { throw self.failure(.malformedAnswer, response, "no answer is due") }
    let object = try object(response)
    return reply(read(object), object, response)
  }

  /// The object that a response of success is.
  func object(_ response: ClientResponse) throws(APIError) -> JSONObject {
    let value: JSONValue
    do throws(JSONError) { value = try JSONReader.read(response.body, limits: limits) } catch {
      throw failure(.malformedAnswer, response, "the response is not acceptable JSON: \(error)")
    }
    guard let object = value.object else {
      throw failure(.malformedAnswer, response, "the response is not a JSON object")
    }
    return object
  }

  private func reply<Answer>(_ answer: Answer, _ json: JSONObject?, _ response: ClientResponse) -> APIResponse<Answer> {
    APIResponse(
      answer: answer, json: json, body: response.body, environment: environment, serverDate: date(response),
      receivedAt: now, attempts: 1)
  }

  /// What a response that is no success means.
  func failure(_ response: ClientResponse) -> APIError {
    let payload = (try? JSONReader.read(response.body, limits: limits))?.object.map { ErrorPayload($0) }
    let message = payload?.errorMessage.map { "Apple says \(Self.quoted($0))" } ?? "status \(response.status)"
    var failure =
      switch response.status {
      case 401: failure(.unauthorized, response, "Apple does not accept the token")
      case 429: failure(.rateLimited, response, message)
      case 400..<500 where payload?.errorCode == 4_290_000: failure(.rateLimited, response, message)
      case 400..<500: failure(.refused, response, message)
      case 500...: failure(.serverFailed, response, message)
      default: failure(.malformedAnswer, response, "status \(response.status) is not one that Apple documents")
      }
    failure.errorCode = payload?.errorCode
    if failure.code == .rateLimited || failure.code == .serverFailed {
      failure.retryAt = response.headers["Retry-After"].flatMap { RetryAfter.instant($0, now: now) }
    }
    return failure
  }

  /// Somebody else's words, fit for a line of a log: as JSON writes them, and no longer than 200 characters.
  private static func quoted(_ text: String) -> String {
    String(decoding: JSONValue.string(String(text.prefix(200))).encoded(), as: UTF8.self)
  }

  /// What it means that there is no response.
  func failure(_ error: HTTPClientError) -> APIError {
    let code: APIError.Code =
      switch error.code {
      case .invalidRequest, .unsupportedURL: .invalidCall
      case .couldNotResolve, .couldNotConnect: .unreachable
      case .shutDown: error.wasBegun ? .interrupted : .unreachable
      case .tlsFailed: .untrusted
      case .timedOut, .closed, .other: .interrupted
      case .malformedResponse: .malformedAnswer
      case .tooLarge, .noRoom: .tooLarge
      case .cancelled: .cancelled
      }
    var failure = APIError(code, endpoint, error.detail)
    failure.environment = environment
    if error.wasBegun { failure.mayHaveActed = true }
    return failure
  }

  /// A failure that an answer says.
  func failure(_ code: APIError.Code, _ response: ClientResponse, _ detail: String) -> APIError {
    var failure = APIError(code, endpoint, detail)
    failure.environment = environment
    failure.status = response.status
    failure.serverDate = date(response)
    failure.receivedAt = now
    return failure
  }

  private func date(_ response: ClientResponse) -> Timestamp? {
    response.headers["Date"].flatMap { HTTPDate.instant($0) }
  }
}
