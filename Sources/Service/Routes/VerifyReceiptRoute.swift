import Answering
import HTTPClient
import HTTPServer
import Intake
import JSON
import Ledger
import Purchases
import Runtime
import Shadow
import Signing
package import Time
import Wire

package struct VerifyReceiptUpstream: Sendable {
  package var production = "https://buy.itunes.apple.com/verifyReceipt"
  package var sandbox = "https://sandbox.itunes.apple.com/verifyReceipt"
  /// The limit of Apple's whole response, below the server's own response limit.
  package var deadline = Interval.seconds(20)
  /// The limit where Switchyard can respond without Apple: back ends do not wait for 20 seconds and a lookup after
  /// them.
  package var deadlineBesideOurs = Interval.seconds(8)
  /// The time that a client waits for the ledger after Apple's response.
  package var recordWithin = Interval.milliseconds(500)
  /// The time after which an equal response for the same receipt is recorded again.
  package var repeatedEvery = Interval.minutes(1)

  package init() {}
}

/// `POST /verifyReceipt` and `/sandbox/verifyReceipt`: a drop-in for Apple's two endpoints.
///
/// The client gets Apple's status, body and content type byte for byte. Without Apple's response in time it gets
/// Apple's own error: HTTP 200 and status 21005, "temporarily unable to provide the receipt; try again". Old clients
/// know it; they may not know an HTTP error. The same applies if its class of callers has no memory left for Apple's
/// response, which counts from its first byte until the client has received it.
final class VerifyReceiptRoute: Sendable {
  static let answerLimit = 8 << 20
  /// The calls that wait for Apple; further ones get a response from the ledger, otherwise 21005 immediately.
  static let callsAtOnce = 128
  /// The calls in process, including those that wait for Apple.
  ///
  /// More than `callsAtOnce`, so that the ledger can answer calls while others wait for Apple.
  private static let answersAtOnce = 8 * callsAtOnce

  private let client: HTTPClient
  private let upstream: VerifyReceiptUpstream
  private let answers: VerifyReceiptRecorder
  private let answering: VerifyReceiptResponder
  private let shadow: ShadowComparer
  private let sample: LiveSampler
  let times: ResponseTimes
  private let posted: ReceiptCapture
  let metrics: ServiceMetrics
  let logger: Logger
  private let callers: CallerClassifier
  let registry: AppRegistry
  /// Searches long bodies for their secret one at a time, because the threads that serve connections are Apple's too.
  private let searches = WorkerThread(label: "verifyReceipt bodies")
  /// Parses Apple's responses to all other callers, too.
  private let reader: ReceiptAnswerReader
  /// Parses Apple's responses to named callers, which wait for no stranger's.
  private let namedReader = ReceiptAnswerReader(thread: WorkerThread(label: "verifyReceipt answers"))
  private let unansweredPace = LogRateLimiter()
  /// The limit for one address allows some hundred users behind one exchange point; a named back end is exempt.
  private let calls = CallLimiter(
    total: answersAtOnce, mostOfAddress: answersAtOnce / 4, rate: Rate(burst: 256, perSecond: 64),
    appRate: Rate(burst: 1_024, perSecond: 256))
  private let waiting = CallLimiter(total: callsAtOnce, mostOfAddress: callsAtOnce / 4)

  init(
    client: HTTPClient, upstream: VerifyReceiptUpstream, answers: VerifyReceiptRecorder,
    answering: VerifyReceiptResponder,
    shadow: ShadowComparer, sample: LiveSampler, times: ResponseTimes, posted: ReceiptCapture,
    callers: CallerClassifier,
    registry: AppRegistry, metrics: ServiceMetrics, logger: Logger
  ) {
    reader = ReceiptAnswerReader(thread: searches)
    self.callers = callers
    self.registry = registry
    self.client = client
    self.upstream = upstream
    self.answers = answers
    self.answering = answering
    self.shadow = shadow
    self.sample = sample
    self.times = times
    self.posted = posted
    self.metrics = metrics
    self.logger = logger
  }

  /// Apple's status for a request other than POST.
  static let notPosted = answer(status: 21000)

  func respond(to request: HTTPRequest, environment: Environment) async -> HTTPResponse {
    let start = ContinuousClock.now
    defer { metrics.receiptSeconds[environment.rawValue].record(ContinuousClock.now - start) }
    let sender = callers.client(of: request.head)
    let caller = callers.caller(at: sender.bytes)
    let limited = caller == .anonymous && !callers.standsForMany(sender) ? sender : nil
    if let reason = calls.begin(CallLimiter.Call(caller, at: limited)) { return unanswered(reason, environment) }
    let app = caller == .anonymous ? await app(of: request.body) : nil
    let call = CallLimiter.Call(caller, at: limited, of: app)
    if let reason = calls.join(call) { return unanswered(reason, environment, of: app) }
    defer { calls.give(back: call) }
    let share = request.share()
    var (draft, isGivenUp) = (FallbackResponse?.none, false)
    if registry.directory.answersAnything {
      switch await answering.answer(answerCall(request, environment, caller)) {
      case .passOn: break
      case .givenUp(let scope):
        times.note(.ours, in: scope, took: nil)
        isGivenUp = true
      case .askApple(let known):
        draft = known
        if known.isOwnFailure, !Task.isCancelled {
          note(.ours, of: known.receipt?.bundleID, environment, took: nil)
        }
      case .answered(let reply):
        sample.take(reply, to: answerCall(request, environment, caller), in: environment)
        return own(reply, environment, limited, share)
      }
    }
    if let reason = waiting.take(for: call) {
      guard let draft else { return unanswered(reason, environment, of: app) }
      count(reason, of: draft.receipt?.bundleID ?? app, environment)
      return own(await answering.answer(without: draft), environment, limited, share)
    }
    defer { waiting.give(back: call) }
    let askedAt = draft == nil && !isGivenUp && registry.directory.comparesAnything ? shadow.now : nil
    let asked = ClientRequest(
      method: "POST", url: environment == .production ? upstream.production : upstream.sandbox,
      headers: [("Content-Type", request.headers["Content-Type"] ?? "application/json")], body: request.body,
      deadline: draft == nil ? upstream.deadline : upstream.deadlineBesideOurs, responseLimit: Self.answerLimit,
      admit: { share.grow(by: $0) })
    let answer: ClientResponse
    let askedApple = ContinuousClock.now
    do throws(HTTPClientError) { answer = try await client.send(asked) } catch {
      if Self.isOfApple(error) {
        await noteUnanswered(request.body, of: caller, draft, app, environment)
      }
      // While Apple does not respond, any client can cause a log line.
      if let others = unansweredPace.turn(of: "\(environment.rawValue) \(error.code.rawValue)") {
        logger.warning(
          "verifyReceipt was not answered",
          metadata: [
            "error": "\(error)", "environment": "\(environment.rawValue)", "callsSinceLastLine": "\(others + 1)",
          ])
      }
      guard let draft else { return unanswered(error.code.rawValue, environment, of: app) }
      count(error.code.rawValue, of: draft.receipt?.bundleID ?? app, environment)
      // Apple's response and its memory share are already released.
      return own(await answering.answer(without: draft), environment, limited, request.share())
    }
    let took = ContinuousClock.now - askedApple
    let object: JSONObject?
    do throws(CancellationError) {
      object = try await (caller == .anonymous ? reader : namedReader).object(of: answer.body)
    } catch { return unanswered(HTTPClientError.Code.cancelled.rawValue, environment, of: app) }
    let status = object?["status"]?.integer
    let bundleID = object.flatMap { VerifyReceiptResponse($0).receipt?.bundleID }
    let named = bundleID ?? draft?.receipt?.bundleID ?? app
    count(Self.label(status, answer.status), of: named, environment)
    if Self.isNoAnswer(answer.status, status) {
      await noteUnanswered(request.body, of: caller, draft, app, environment)
      if let draft {
        return own(await answering.answer(without: draft), environment, limited, request.share())
      }
    } else {
      note(.apple, of: bundleID, environment, took: took)
    }
    // A receipt that Apple cannot read is not evidence about Switchyard's responses: any client can send one.
    if let askedAt, answer.status == 200, let object, ![21_000, 21_002, 21_003].contains(status) {
      shadow.offer(
        ShadowCall(
          answerCall(request, environment, caller), theirs: object, bytes: answer.body.count, askedAt: askedAt))
    }
    // 21006 is a receipt too: of the oldest format, of a subscription that has expired.
    if answer.status == 200, let object, status == 0 || status == 21006 {
      await answers.take(answer.body, object, environment: environment)
    }
    var response = HTTPResponse(status: answer.status, body: answer.body)
    if let type = answer.headers["Content-Type"] { response.headers.append("Content-Type", type) }
    response.headers.append(Self.answeredBy, ResponseSource.apple.rawValue)
    note(.apple, status, draft?.reasons ?? [], of: named, environment)
    response.share = share
    return response
  }

  // MARK: Own responses

  /// Names the source of the response; old clients ignore it.
  private static let answeredBy = "Switchyard-Answered-By"

  private func answerCall(
    _ request: HTTPRequest, _ environment: Environment, _ caller: CallerClass
  ) -> VerifyReceiptCall {
    let directory = registry.directory
    let app =
      request.head.bearerToken.flatMap { directory.app(token: $0) }
      ?? callers.certificate(of: request.head).flatMap { directory.app(certificate: $0) }
    return VerifyReceiptCall(
      body: request.body, environment: environment, tokensApp: app, isOfBackEnd: caller == .known)
  }

  /// Whether a call failed at Apple or in the network; other errors are local.
  static func isOfApple(_ error: HTTPClientError) -> Bool {
    ![.noRoom, .cancelled, .shutDown].contains(error.code)
  }

  /// Whether Apple returned no data for the receipt, so that the ledger has more.
  static func isNoAnswer(_ http: Int, _ status: Int64?) -> Bool {
    guard http == 200, let status else { return true }
    return status == 21_005 || status == 21_009 || (21_100...21_199).contains(status)
  }

  /// Returns Switchyard's response, and stores the receipt if it has new data, which Apple's response would have
  /// contained.
  ///
  /// - Parameters:
  ///   - sender: nil for callers without their own limit.
  ///   - share: of the memory of the caller's class, in which a response counts until the client has received it.
  private func own(
    _ reply: ComposedResponse, _ environment: Environment, _ sender: PeerAddress?, _ share: BodyShare
  ) -> HTTPResponse {
    if let receipt = reply.receipt {
      posted.take(
        ReceiptCapture.Posted(receipt.text, receipt.digest, of: receipt.bundleID, in: environment, from: sender))
    }
    let hasRoom = share.grow(by: reply.body.count)
    guard hasRoom else { return unanswered("memory", environment, of: reply.receipt?.bundleID) }
    // Excludes calls that waited for Apple, were rejected by a limit, or failed without Apple's data (21005). Measures
    // from the receipt's parsing, because strangers' bodies are read before it.
    if let receipt = reply.receipt, let readAt = reply.readAt, reply.status != 21_005 {
      note(.ours, of: receipt.bundleID, environment, took: reply.isOwnFailure ? nil : ContinuousClock.now - readAt)
    }
    count(Self.label(reply.status, 200), of: reply.receipt?.bundleID, environment)
    note(reply.source, reply.status, reply.reasons, of: reply.receipt?.bundleID, environment)
    var response = HTTPResponse.json(200, reply.body)
    if let source = reply.source { response.headers.append(Self.answeredBy, source.rawValue) }
    response.share = share
    return response
  }

  // MARK: Reading

  /// Returns the app of a body's shared secret; `nil` without one, or if several apps have it.
  func app(of body: [UInt8]) async -> String? {
    guard body.count > Self.short else { return self.appNow(of: body) }
    return await searches.run { self.appNow(of: body) } ?? nil
  }

  private func appNow(of body: [UInt8]) -> String? {
    guard
      let secret = try? JSONReader.text(of: "password", in: body, longest: Self.longestSecret, limits: Self.limits)
    else { return nil }
    let holders = registry.directory.apps(withSecret: secret)
    return holders.count == 1 ? holders[0].bundleID : nil
  }

  static let short = 32 << 10
  /// Bytes; Apple's secrets have 32.
  private static let longestSecret = 1 << 10

  /// A call has three members, one of them long.
  private static let limits = JSONLimits(bytes: bodyLimit, depth: 4, values: 256)

  private func unanswered(_ reason: String, _ environment: Environment, of app: String? = nil) -> HTTPResponse {
    count(reason, of: app, environment)
    return Self.answer(status: 21005)
  }

  private static func answer(status: Int64) -> HTTPResponse { .object(200, ["status": .integer(status)]) }

  private static func label(_ status: Int64?, _ http: Int) -> String {
    guard let status else { return http == 200 ? "unreadable" : "http\(http / 100)xx" }
    return switch status {
    case 0, 21000...21010: "\(status)"
    case 21100...21199: "211xx"
    default: "other"
    }
  }
}
