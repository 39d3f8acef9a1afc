import HTTPClient
import Synchronization
import Time

/// Posts due notifications, one round after the other, and records the responses.
final class NotificationSender: Sendable {
  struct Summary: Sendable {
    var sent = 0
    var delivered = 0
  }

  private struct Waiting {
    var isOver = false
    var count = 0
    var continuations: [Int: CheckedContinuation<Summary, Never>] = [:]
  }

  /// The response deadline, in the machine's time.
  private static let deadline = Interval.seconds(10)
  private static let answerLimit = 64 << 10

  private let client: HTTPClient
  private let next: @Sendable () -> NotificationDelivery?
  private let record: @Sendable (SendAttempt, NotificationDelivery) -> Void
  private let parallel: Int
  private let waiting = Mutex(Waiting())
  private let rounds: AsyncStream<Int?>
  private let order: AsyncStream<Int?>.Continuation

  /// - Parameters:
  ///   - parallel: posts in flight at the same time; with one, they arrive in their order.
  ///   - next: takes the next delivery out of the queue.
  ///   - record: records the result and plans the next attempt.
  init(
    client: HTTPClient, parallel: Int, next: @escaping @Sendable () -> NotificationDelivery?,
    record: @escaping @Sendable (SendAttempt, NotificationDelivery) -> Void
  ) {
    self.client = client
    self.parallel = max(1, parallel)
    self.next = next
    self.record = record
    (rounds, order) = AsyncStream.makeStream()
  }

  /// Starts a round soon for newly due notifications.
  func wake() { order.yield(nil) }

  /// Returns after an attempt of everything that is due now.
  func sendDue() async -> Summary {
    await withCheckedContinuation { continuation in
      let number: Int? = waiting.withLock { waiting in
        guard !waiting.isOver else { return nil }
        waiting.count += 1
        waiting.continuations[waiting.count] = continuation
        return waiting.count
      }
      if let number { order.yield(number) } else { continuation.resume(returning: Summary()) }
    }
  }

  /// Sends until cancelled, which also releases waiting callers.
  func run() async {
    for await number in rounds {
      let summary = await round()
      if let number { waiting.withLock { $0.continuations.removeValue(forKey: number) }?.resume(returning: summary) }
    }
    let left = waiting.withLock { waiting in
      waiting.isOver = true
      defer { waiting.continuations = [:] }
      return waiting.continuations
    }
    for continuation in left.values { continuation.resume(returning: Summary()) }
  }

  private func round() async -> Summary {
    await withTaskGroup(of: SendAttempt.Result.self) { group in
      var (summary, running) = (Summary(), 0)
      while !Task.isCancelled {
        while running < parallel, let delivery = next() {
          running += 1
          group.addTask { await self.post(delivery) }
        }
        // The recorded result may have made a retry due.
        guard running > 0, let result = await group.next() else { break }
        running -= 1
        summary.sent += 1
        if result == .success { summary.delivered += 1 }
      }
      return summary
    }
  }

  private func post(_ delivery: NotificationDelivery) async -> SendAttempt.Result {
    let attempt = await attempt(delivery)
    record(attempt, delivery)
    for _ in 0..<delivery.copies { _ = await self.attempt(delivery) }
    return attempt.result
  }

  private func attempt(_ delivery: NotificationDelivery) async -> SendAttempt {
    let request = ClientRequest(
      method: "POST", url: delivery.destination.url, headers: [("Content-Type", "application/json")],
      body: delivery.body, deadline: Self.deadline, responseLimit: Self.answerLimit)
    do throws(HTTPClientError) {
      return SendAttempt(at: delivery.date, answered: try await client.send(request).status)
    } catch {
      return SendAttempt(at: delivery.date, failed: error)
    }
  }
}
