import HTTPClient
import Synchronization
import Time

/// Posts what is due, one round after the other, and writes down what the receivers answered.
final class NotificationSender: Sendable {
  /// What a round came to.
  struct Summary: Sendable {
    var sent = 0
    var delivered = 0
  }

  private struct Waiting {
    var isOver = false
    var count = 0
    var continuations: [Int: CheckedContinuation<Summary, Never>] = [:]
  }

  /// How long a receiver may take, of the machine's time.
  private static let deadline = Interval.seconds(10)
  /// Answers are not looked at beyond that.
  private static let answerLimit = 64 << 10

  private let client: HTTPClient
  private let next: @Sendable () -> NotificationDelivery?
  private let record: @Sendable (SendAttempt, NotificationDelivery) -> Void
  private let parallel: Int
  private let waiting = Mutex(Waiting())
  private let rounds: AsyncStream<Int?>
  private let order: AsyncStream<Int?>.Continuation

  /// - Parameters:
  ///   - parallel: posts under way at once; with one, they arrive in their order.
  ///   - next: takes the next delivery out of the queue.
  ///   - record: is told how it went, and plans what follows.
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

  /// Has a round begin soon, for what has become due.
  func wake() { order.yield(nil) }

  /// Returns when everything that is due now has been tried.
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

  /// Sends until cancelled; who waits then is let go.
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
        // A retry may have become due by what was just recorded.
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
