@Suite struct `A retry` {
  private let now = Timestamp(1_780_000_000_000)

  @Test(
    arguments: [
      ("0", 0), ("120", 120_000), (" 5", 5_000), ("1780000009000", 9_000), ("1780000009", 9_000),
      ("1770000000000", 0), ("999999999", 86_400_000), ("99999999999999999", 86_400_000),
      ("Thu, 28 May 2026 20:26:50 GMT", 10_000), ("Thursday, 28-May-26 20:26:50 GMT", 10_000),
      ("Thu May 28 20:26:50 2026", 10_000), ("Thu May  8 20:26:50 2025", 0),
    ] as [(String, Int64)])
  func `waits for what the header says, at most a day`(header: String, wait: Int64) {
    #expect(RetryAfter.instant(header, now: now) == now + .milliseconds(wait))
  }

  @Test(arguments: ["", "soon", "-1", "1.5", "Thu, 28 Foo 2026 20:26:50 GMT", "Thu, 28 May 2026 25:26:50 GMT", "1 2"])
  func `ignores a header that cannot be read`(header: String) {
    #expect(RetryAfter.instant(header, now: now) == nil)
  }

  @Test(
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Tue, 29 Feb 2028 23:59:60 GMT", 1_835_481_600),
    ] as [(String, Int64)])
  func `reads a date in all forms of HTTP`(text: String, seconds: Int64) {
    #expect(HTTPDate.instant(text) == Timestamp(seconds * 1_000))
  }

  private func decision(
    _ code: APIError.Code, _ endpoint: Endpoint, error: Int64? = nil, attempt: Int = 1, jitter: Double = 1,
    after: Interval = .milliseconds(0), retryAt: Timestamp? = nil
  ) -> RetryPolicy.Decision {
    var failure = APIError(code, endpoint, "")
    failure.errorCode = error
    failure.retryAt = retryAt
    return RetryPolicy(attempts: 5, within: .seconds(60)).decision(
      after: failure, attempt: attempt, begun: now, now: now + after, jitter: jitter)
  }

  @Test func `is made of every failure that may pass, and of no other`() {
    let again: [APIError.Code] = [.unreachable, .rateLimited, .serverFailed, .interrupted, .malformedAnswer]
    for code in APIError.Code.allCases {
      let isAgain = decision(code, .getTransactionInfo) != .giveUp
      #expect(isAgain == again.contains(code), "\(code)")
    }
    #expect(decision(.refused, .getTransactionInfo, error: 4_040_004) != .giveUp)
    #expect(decision(.refused, .getTransactionInfo, error: 4_040_003) == .giveUp)
    #expect(decision(.refused, .getTransactionInfo, error: 4_999_999) == .giveUp)
    #expect(decision(.unreachable, .extendSubscriptionRenewalDate) != .giveUp)
    #expect(decision(.interrupted, .extendSubscriptionRenewalDate) == .giveUp)
    #expect(decision(.interrupted, .setAppAccountToken) != .giveUp)
  }

  @Test func `comes after up to twice the time of the last, and is bounded in number and time`() {
    #expect(decision(.serverFailed, .getTransactionInfo) == .again(after: .milliseconds(250)))
    #expect(decision(.serverFailed, .getTransactionInfo, attempt: 4) == .again(after: .seconds(2)))
    #expect(decision(.serverFailed, .getTransactionInfo, attempt: 4, jitter: 0) == .again(after: .seconds(0)))
    #expect(decision(.serverFailed, .getTransactionInfo, attempt: 5) == .giveUp)
    #expect(decision(.serverFailed, .getTransactionInfo, after: .seconds(60)) == .giveUp)
    #expect(
      decision(.rateLimited, .getTransactionInfo, jitter: 0, retryAt: now + .seconds(60)) == .again(after: .seconds(60))
    )
    #expect(decision(.rateLimited, .getTransactionInfo, retryAt: now + .seconds(60)) == .giveUp)
  }
}
