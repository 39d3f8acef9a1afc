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
import Time

/// Sends a sample of the calls with Switchyard's own response to Apple too, and has both responses compared.
///
/// Without it the guard would see nothing where all customers get Switchyard's responses. The compared response is
/// composed again, not read from a cache. The client gets its response before, and no other. Only proven receipts are
/// sampled, each once in a window regardless of its spelling, and one call of an app in `every`. Each environment has
/// its own queue with one call in flight; calls above its limit are skipped.
final class LiveSampler: Service {
  /// The minimum time between two samples of an app in one environment.
  private let every: Duration
  private let client: HTTPClient
  private let upstream: VerifyReceiptUpstream
  private let shadow: ShadowComparer
  private let times: ResponseTimes
  private let registry: AppRegistry
  private let reader = ReceiptAnswerReader(thread: WorkerThread(label: "sampled answers"))
  /// The time of the last sample by the service's clock, so that a simulated month has its samples, too.
  private let taken = Mutex<[AppScope: Timestamp]>([:])
  private let (production, sandbox) = (Line(), Line())

  private struct Taken: Sendable {
    let call: VerifyReceiptCall
    let scope: AppScope
  }

  private struct Line: Sendable {
    let calls: AsyncStream<Taken>
    let waiting: AsyncStream<Taken>.Continuation

    init() { (calls, waiting) = AsyncStream.makeStream(of: Taken.self, bufferingPolicy: .bufferingOldest(4)) }
  }

  init(
    every: Duration, client: HTTPClient, upstream: VerifyReceiptUpstream, shadow: ShadowComparer, times: ResponseTimes,
    registry: AppRegistry
  ) {
    self.every = every
    self.client = client
    self.upstream = upstream
    self.shadow = shadow
    self.times = times
    self.registry = registry
  }

  /// Samples a call with an own response, if its app is due; returns immediately.
  func take(_ reply: ComposedResponse, to call: @autoclosure () -> VerifyReceiptCall, in environment: Environment) {
    guard reply.source == .ledger, let receipt = reply.receipt, let app = registry.directory[receipt.bundleID] else {
      return
    }
    let scope = AppScope(app: app.id, environment: environment)
    guard isCompared(scope), isTurn(of: scope), !shadow.isSampled(receipt.voice, in: scope) else { return }
    let call = call()
    // Apple would require the password that such a client does not send.
    guard registry.directory.answerClients(of: app) == .password || call.tokensApp == nil else { return }
    let line = environment == .production ? production : sandbox
    // Of simultaneous calls only one is sampled, if the queue has a free slot.
    let isTaken = taken.withLock { taken in
      guard isDue(since: taken[scope]), case .enqueued = line.waiting.yield(Taken(call: call, scope: scope)) else {
        return false
      }
      taken[scope] = shadow.now
      return true
    }
    guard isTaken else { return }
    shadow.noteSample(of: receipt.voice, in: scope)
  }

  private func isTurn(of scope: AppScope) -> Bool { isDue(since: taken.withLock { $0[scope] }) }

  private func isDue(since last: Timestamp?) -> Bool {
    guard let last else { return true }
    // A clock that moved back must not extend the wait.
    return .milliseconds(abs((shadow.now - last).milliseconds)) >= every
  }

  private func isCompared(_ scope: AppScope) -> Bool {
    registry.directory.flag(of: scope)?.stage.comparesAnswers ?? false
  }

  func run() async throws {
    await withTaskGroup(of: Void.self) { group in
      for line in [production, sandbox] {
        group.addTask { for await taken in line.calls { await self.ask(taken) } }
      }
    }
  }

  private func ask(_ taken: Taken) async {
    // In `complete` Apple is never asked.
    guard isCompared(taken.scope) else { return }
    let (askedAt, begun) = (shadow.now, ContinuousClock.now)
    let url = taken.call.environment == .production ? upstream.production : upstream.sandbox
    let request = ClientRequest(
      method: "POST", url: url, headers: [("Content-Type", "application/json")], body: taken.call.body,
      deadline: upstream.deadlineBesideOurs, responseLimit: VerifyReceiptRoute.answerLimit)
    let answer: ClientResponse
    do throws(HTTPClientError) { answer = try await client.send(request) } catch {
      if VerifyReceiptRoute.isOfApple(error) { times.note(.apple, in: taken.scope, took: nil) }
      return
    }
    guard let object = try? await reader.object(of: answer.body),
      !VerifyReceiptRoute.isNoAnswer(answer.status, object["status"]?.integer)
    else { return times.note(.apple, in: taken.scope, took: nil) }
    times.note(.apple, in: taken.scope, took: ContinuousClock.now - begun)
    shadow.offer(ShadowCall(taken.call, theirs: object, bytes: answer.body.count, askedAt: askedAt))
  }
}
