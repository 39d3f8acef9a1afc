import HTTPClient
import HTTPServer
import JSON
import Ledger
import Purchases
import Runtime
import Signing
package import Time

/// Where verifyReceipt calls are passed on to.
package struct VerifyReceiptUpstream: Sendable {
  package var production = "https://buy.itunes.apple.com/verifyReceipt"
  package var sandbox = "https://sandbox.itunes.apple.com/verifyReceipt"
  /// For Apple's whole answer; below the time in which the server has to answer.
  package var deadline = Interval.seconds(20)
  /// How long a client waits for the ledger once Apple has answered.
  package var recordWithin = Interval.milliseconds(500)

  package init() {}
}

/// `POST /verifyReceipt` and `/sandbox/verifyReceipt`: a drop-in for Apple's two endpoints.
///
/// The client gets Apple's status, body and content type byte for byte. When Apple does not answer in time it gets what
/// Apple itself says then: HTTP 200 and status 21005, "temporarily unable to provide the receipt; try again", which old
/// clients know; an HTTP error they may not.
final class VerifyReceiptRoute: Sendable {
  /// Receipts of many years reach megabytes.
  static let bodyLimit = 8 << 20
  static let answerLimit = 8 << 20
  /// Calls that wait for Apple; more get 21005 at once.
  static let callsAtOnce = 128

  private let client: HTTPClient
  private let upstream: VerifyReceiptUpstream
  private let answers: ReceiptAnswers
  private let metrics: ServiceMetrics
  private let logger: Logger
  private let callers: Callers
  private let registry: Registry
  private let key: MasterKey
  /// Everybody on one address: some hundred users behind one exchange point; a back end is named, and not among them.
  private let calls = CallSlots(
    total: callsAtOnce, mostOfAddress: callsAtOnce / 4, rate: Rate(burst: 256, perSecond: 64),
    appRate: Rate(burst: 1_024, perSecond: 256))

  init(
    client: HTTPClient, upstream: VerifyReceiptUpstream, answers: ReceiptAnswers, callers: Callers,
    registry: Registry, key: MasterKey, metrics: ServiceMetrics, logger: Logger
  ) {
    self.callers = callers
    self.registry = registry
    self.key = key
    self.client = client
    self.upstream = upstream
    self.answers = answers
    self.metrics = metrics
    self.logger = logger
  }

  /// Apple's word for a request that is no POST.
  static let notPosted = answer(status: 21000)

  func respond(to request: HTTPRequest, environment: Environment) async -> HTTPResponse {
    let start = ContinuousClock.now
    defer { metrics.receiptSeconds[environment.rawValue].record(ContinuousClock.now - start) }
    let sender = callers.client(of: request.head)
    let caller = callers.caller(at: sender.bytes)
    let limited = caller == .anonymous && !callers.standsForMany(sender) ? sender : nil
    let app = caller == .anonymous ? await app(of: request.body) : nil
    let call = CallSlots.Call(caller, at: limited, of: app)
    if let reason = calls.take(for: call) { return unanswered(reason, environment) }
    defer { calls.give(back: call) }
    let asked = ClientRequest(
      method: "POST", url: environment == .production ? upstream.production : upstream.sandbox,
      headers: [("Content-Type", request.headers["Content-Type"] ?? "application/json")], body: request.body,
      deadline: upstream.deadline, responseLimit: Self.answerLimit)
    let answer: ClientResponse
    do throws(HTTPClientError) { answer = try await client.send(asked) } catch {
      logger.warning(
        "verifyReceipt was not answered",
        metadata: ["error": "\(error)", "environment": "\(environment.rawValue)"])
      return unanswered(error.code.rawValue, environment)
    }
    let object = try? JSONReader.read(answer.body).object
    let status = object?["status"]?.integer
    metrics.receiptCalls[environment.rawValue, Self.label(status, answer.status)].increment()
    // 21006 is a receipt too: of the oldest shape, of a subscription that has expired.
    if answer.status == 200, let object, status == 0 || status == 21006 {
      await answers.take(answer.body, object, environment: environment)
    }
    var response = HTTPResponse(status: answer.status, body: answer.body)
    if let type = answer.headers["Content-Type"] { response.headers.append("Content-Type", type) }
    return response
  }

  /// Returns the app whose shared secret a body has; nil if it has none, or one that several apps have.
  ///
  /// On the pool of threads: a body of megabytes must not keep a thread that serves connections.
  @concurrent private func app(of body: [UInt8]) async -> String? {
    guard let object = try? JSONReader.read(body, limits: Self.limits).object,
      let code = LegacyPassword.code(ofReceived: object, key: key)
    else { return nil }
    let holders = registry.directory.apps(withSecret: code)
    return holders.count == 1 ? holders[0].bundleID : nil
  }

  /// A call is three members, one of them long.
  private static let limits = JSONLimits(bytes: bodyLimit, depth: 4)

  private func unanswered(_ reason: String, _ environment: Environment) -> HTTPResponse {
    metrics.receiptCalls[environment.rawValue, reason].increment()
    return Self.answer(status: 21005)
  }

  private static func answer(status: Int64) -> HTTPResponse { .object(200, ["status": .integer(status)]) }

  /// A label with few values, whatever is answered.
  private static func label(_ status: Int64?, _ http: Int) -> String {
    guard let status else { return http == 200 ? "unreadable" : "http\(http / 100)xx" }
    return switch status {
    case 0, 21000...21010: "\(status)"
    case 21100...21199: "211xx"
    default: "other"
    }
  }
}
