package import HTTPClient
import JSON
import Ledger
import Rollout
package import Runtime
package import Shadow
package import Time

/// Posts to an operator's webhook that the guard took an app back to `shadow`.
///
/// The guard waits for nothing here: the stage is set before. Notifications that are not posted before the process ends
/// remain in the log and the audit.
package final class GuardWebhook: Service {
  package struct Settings: Sendable {
    /// Where it posts.
    ///
    /// Its path and query may be secret, so only its host is logged.
    package var url: String
    /// For one try.
    package var deadline = Interval.seconds(5)
    package var tries = 3
    /// Between two tries.
    package var pause = Duration.seconds(2)

    package init(url: String) { self.url = url }
  }

  private let settings: Settings
  private let client: HTTPClient
  private let posts: MetricFamily<Counter>
  private let logger: Logger
  private let calls: AsyncStream<TakenBack>
  private let waiting: AsyncStream<TakenBack>.Continuation

  /// Apps that wait to be announced at most.
  private static let mostWaiting = 1_024

  package init(_ settings: Settings, client: HTTPClient, metrics: MetricsRegistry, logger: Logger) {
    self.settings = settings
    self.client = client
    self.logger = logger
    posts = metrics.counter(
      "switchyard_guard_webhook_total",
      help: "Guard breach notifications, by outcome (posted, failed).",
      labels: ["outcome"])
    (calls, waiting) = AsyncStream.makeStream(
      of: TakenBack.self, bufferingPolicy: .bufferingOldest(GuardWebhook.mostWaiting))
  }

  /// Takes an app that is to be announced; returns at once.
  package func take(_ news: TakenBack) {
    guard case .enqueued = waiting.yield(news) else { return noteFailure(news, "too many wait, or the process ends") }
  }

  package func run() async throws {
    for await news in calls {
      // What was still queued comes here after the end, too.
      guard !Task.isCancelled else {
        noteFailure(news, "the process ends")
        continue
      }
      await post(news)
    }
  }

  /// Posts until an answer says that it was taken; redirects are not followed.
  private func post(_ news: TakenBack) async {
    let body = news.json.encoded()
    var reason = ""
    for attempt in 1...max(1, settings.tries) {
      if attempt > 1 { try? await Task.sleep(for: settings.pause) }
      let request = ClientRequest(
        method: "POST", url: settings.url, headers: [("Content-Type", "application/json")], body: body,
        deadline: settings.deadline, responseLimit: 1 << 20, mayRepeat: false)
      do throws(HTTPClientError) {
        let status = try await client.send(request).status
        if (200..<300).contains(status) { return posts["posted"].increment() }
        reason = "HTTP \(status)"
      } catch { reason = "\(error)" }
    }
    noteFailure(news, reason)
  }

  private func noteFailure(_ news: TakenBack, _ reason: String) {
    posts["failed"].increment()
    logger.error(
      "guard webhook failed",
      metadata: [
        "app": "\(news.app)", "environment": "\(news.environment)", "host": "\(Destination.host(of: settings.url))",
        "error": "\(reason)",
      ])
  }
}

extension TakenBack {
  fileprivate var json: JSONObject {
    [
      "id": .string(id), "event": "guardBreach", "app": .string(app), "environment": .string(environment),
      "cause": .string(breach.cause), "text": .string("\(app) \(environment): \(text)"),
      "figures": .object(JSONObject(breach.figures.map { ($0.name, JSONValue.integer(Int64($0.value))) })),
      "from": .string(from), "to": "shadow", "at": .integer(at.sinceEpoch),
      "next_steps": .array(breach.next(app, environment).map(JSONValue.string)),
    ]
  }
}
