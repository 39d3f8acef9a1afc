import Delivery
import HTTPClient
import Ledger
import Signing
import Testing
import Time

@Suite struct `What is noted of an attempt` {
  private static let now = Milliseconds(1_780_000_000_000)

  private static func delivery(attempt: Int = 1, expiresAfter: Interval = .days(3)) -> LeasedDelivery {
    LeasedDelivery(
      sequence: 1, destination: Destination.ID(1), message: .sha256([]), proof: .proven, size: 0, attempt: attempt,
      createdAt: now, expiresAt: now + expiresAfter, leasedUntil: now + .seconds(60), owner: [])
  }

  private func outcome(of attempt: Attempt, _ delivery: LeasedDelivery = Self.delivery()) -> Settlement.Outcome {
    Settlement.Outcome(after: attempt, of: delivery, backoff: Backoff(), at: Self.now) { $0 }
  }

  @Test func `is that it was delivered, or given back unused when the process stops`() {
    #expect(outcome(of: .delivered(status: 204)) == .delivered)
    #expect(outcome(of: .failed(.noAnswer(.cancelled))) == .released)
    #expect(outcome(of: .failed(.noAnswer(.shutDown))) == .released)
  }

  @Test(arguments: [(1, 1), (2, 2), (5, 16), (20, 900)])
  func `is when it is tried again, later each time`(attempt: Int, seconds: Int64) {
    #expect(
      outcome(of: .failed(.status(503)), Self.delivery(attempt: attempt))
        == .failed(error: "answered 503", retryAt: Self.now + .seconds(seconds)))
  }

  @Test func `is that it is given up when three days are over or there is nothing to send`() {
    #expect(
      outcome(of: .failed(.status(503)), Self.delivery(expiresAfter: .seconds(0))) == .dead(error: "answered 503"))
    #expect(outcome(of: .failed(.bodyMissing)) == .dead(error: "the body was purged or is damaged"))
    let unrestored = outcome(of: .failed(.notRestored))
    #expect(unrestored != .dead(error: "\(Attempt.Reason.notRestored)"), "it may be mended")
  }
}
