import Answering
import HTTPClient
import Intake
import JSON
import Ledger
import Purchases
import Rollout
import Runtime
import Shadow
import Synchronization

/// Has Apple asked about a few of the calls that we answered, and both answers compared: where nobody gets Apple's answers the guard
/// would see nothing else.
///
/// The client has its answer by then, and never gets another one. One call of an app in a while is taken, proven receipts alone, and
/// of a customer's receipt one in a window; Apple is asked one call at a time, and what finds no room is left out.
final class AnswerSample: Service {
  /// How long no other call of an app is taken in one environment.
  private let every: Duration
  private let client: HTTPClient
  private let upstream: VerifyReceiptUpstream
  private let shadow: Shadow
  private let times: AnswerTimes
  private let registry: Registry
  private let reader = ReceiptAnswerReader(thread: SideThread(label: "sampled answers"))
  private let next = Mutex<[Scope: ContinuousClock.Instant]>([:])
  private let (calls, waiting) = AsyncStream.makeStream(of: Taken.self, bufferingPolicy: .bufferingOldest(4))

  private struct Taken: Sendable {
    let call: AnswerCall
    let scope: Scope
  }

  init(
    every: Duration, client: HTTPClient, upstream: VerifyReceiptUpstream, shadow: Shadow, times: AnswerTimes,
    registry: Registry
  ) {
    self.every = every
    self.client = client
    self.upstream = upstream
    self.shadow = shadow
    self.times = times
    self.registry = registry
  }

  /// Takes a call that we answered, if it is its app's turn; returns at once.
  func take(_ reply: AnswerReply, to call: @autoclosure () -> AnswerCall, in environment: Environment) {
    guard reply.source == .ledger, let app = reply.receipt.flatMap({ registry.directory[$0.bundleID] }) else { return }
    let scope = Scope(app: app.id, environment: environment)
    guard let stage = registry.directory.flag(of: scope)?.stage, stage.comparesAnswers, isTurn(of: scope) else {
      return
    }
    let call = call()
    guard !shadow.isHeard(call) else { return }
    next.withLock { $0[scope] = ContinuousClock.now + every }
    waiting.yield(Taken(call: call, scope: scope))
  }

  private func isTurn(of scope: Scope) -> Bool {
    next.withLock { $0[scope].map { $0 <= ContinuousClock.now } ?? true }
  }

  func run() async throws {
    for await taken in calls { await ask(taken) }
  }

  private func ask(_ taken: Taken) async {
    let (askedAt, begun) = (shadow.now, ContinuousClock.now)
    let url = taken.call.environment == .production ? upstream.production : upstream.sandbox
    let request = ClientRequest(
      method: "POST", url: url, headers: [("Content-Type", "application/json")], body: taken.call.body,
      deadline: upstream.deadline, responseLimit: VerifyReceiptRoute.answerLimit)
    guard let answer = try? await client.send(request), answer.status == 200,
      let object = try? await reader.object(of: answer.body)
    else { return times.note(.apple, in: taken.scope, took: nil) }
    times.note(.apple, in: taken.scope, took: ContinuousClock.now - begun)
    shadow.offer(ShadowCall(taken.call, theirs: object, bytes: answer.body.count, askedAt: askedAt))
  }
}
