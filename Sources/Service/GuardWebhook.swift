package import HTTPClient
package import JSON
import Ledger
package import Runtime
import Synchronization
package import Time

/// Posts to an operator's webhook that the guard returned an app to `shadow`.
///
/// The stage is set before, so the guard does not wait. Notifications are retried separately, so a rejected one does
/// not delay others. At the end of the process each is tried once more. A notification that still fails remains in the
/// log and the audit.
package final class GuardWebhook: Service {
  package struct Settings: Sendable {
    /// The webhook's URL.
    ///
    /// Its path and query may be secret, so only its host is logged.
    package var url: String
    /// The limit of one attempt.
    package var deadline = Interval.seconds(5)
    /// The pauses between attempts, which number one more, because a receiver may restart for minutes at night.
    ///
    /// With all deadlines the total is less than 15 minutes.
    package var pauses: [Duration] = [
      .seconds(2), .seconds(4), .seconds(8), .seconds(15), .seconds(30), .seconds(60), .seconds(120), .seconds(180),
      .seconds(180), .seconds(180),
    ]
    /// The largest number of waiting notifications, including retries; further ones are dropped immediately.
    package var mostWaiting = 1_024

    package init(url: String) { self.url = url }
  }

  private let settings: Settings
  private let client: HTTPClient
  private let posts: MetricFamily<Counter>
  private let logger: Logger
  private let calls: AsyncStream<JSONObject>
  private let queue: AsyncStream<JSONObject>.Continuation
  /// The number of accepted notifications that are neither posted nor dropped.
  private let waiting = Mutex(0)

  private static let processEnds = "the process ends"

  package init(_ settings: Settings, client: HTTPClient, metrics: MetricsRegistry, logger: Logger) {
    self.settings = settings
    self.client = client
    self.logger = logger
    posts = metrics.counter(
      "switchyard_guard_webhook_total",
      help: "Guard breach notifications, by outcome (posted, failed).",
      labels: ["outcome"])
    (calls, queue) = AsyncStream.makeStream(of: JSONObject.self)
  }

  /// Queues the announcement of an app; returns immediately.
  package func take(_ news: JSONObject) {
    let hasRoom: Bool = waiting.withLock { count in
      guard count < settings.mostWaiting else { return false }
      count += 1
      return true
    }
    guard hasRoom else { return giveUp(news, "too many wait") }
    guard case .enqueued = queue.yield(news) else {
      waiting.withLock { $0 -= 1 }
      return giveUp(news, Self.processEnds)
    }
  }

  package func run() async throws {
    await withDiscardingTaskGroup { group in
      // The queued rest arrives here after the end, too.
      for await news in calls {
        group.addTask {
          let failure = await self.failure(of: news)
          self.waiting.withLock { $0 -= 1 }
          if let failure { self.giveUp(news, failure) } else { self.posts["posted"].increment() }
        }
      }
    }
  }

  /// Posts until accepted, then returns `nil`; after the last pause, returns the last error.
  private func failure(of news: JSONObject) async -> String? {
    let body = news.encoded()
    var reason: String?
    for attempt in 0...settings.pauses.count {
      if attempt > 0 { try? await Task.sleep(for: settings.pauses[attempt - 1]) }
      if Task.isCancelled { break }
      reason = await post(body)
      guard let failure = reason else { return nil }
      if attempt == 0, !settings.pauses.isEmpty, !Task.isCancelled {
        logger.warning("guard webhook is retried", metadata: facts(news, failure))
      }
    }
    guard Task.isCancelled else { return reason }
    // A cancelled task sends nothing, and no other process reports this event.
    do { reason = try await withCancellationShield { await self.post(body) } } catch { reason = "\(error)" }
    return reason.map { "\(Self.processEnds); \($0)" }
  }

  /// Posts once and returns the error; `nil` if accepted.
  ///
  /// Redirects are not followed.
  private func post(_ body: [UInt8]) async -> String? {
    let request = ClientRequest(
      method: "POST", url: settings.url, headers: [("Content-Type", "application/json")], body: body,
      deadline: settings.deadline, responseLimit: 1 << 20, mayRepeat: false)
    do throws(HTTPClientError) {
      let status = try await client.send(request).status
      return (200..<300).contains(status) ? nil : "HTTP \(status)"
    } catch { return "\(error)" }
  }

  private func giveUp(_ news: JSONObject, _ reason: String) {
    posts["failed"].increment()
    logger.error("guard webhook failed", metadata: facts(news, reason))
  }

  private func facts(_ news: JSONObject, _ reason: String) -> Logger.Metadata {
    [
      "app": "\(news["app"]?.string ?? "")", "environment": "\(news["environment"]?.string ?? "")",
      "host": "\(Destination.host(of: settings.url))", "error": "\(reason)",
    ]
  }
}
