package import AppStore
package import Ledger
import Signing
package import Time

/// What follows from how a look-up ended: for the customer's rows, and for everybody else of the app and environment.
///
/// Pure: an outcome and a time go in.
package struct HistoryJobDecision: Sendable {
  package let settlement: HistoryJobTable.Outcome
  /// Nobody else is to be asked about before that.
  package let pause: Pause?

  package struct Pause: Hashable, Sendable {
    package let until: Timestamp
    package let reason: String
  }

  /// How often an answer that cannot be used is asked for anew.
  package static let attempts = 10
  /// How long the whole app waits after Apple did not let it in.
  package static let accessPause = Interval.minutes(5)

  /// - Parameters:
  ///   - attempt: how often it was tried and an answer failed, this time included.
  ///   - isAccepted: whether Apple was seen to accept the app's credentials; asked only where that decides.
  package init(
    _ outcome: HistoryFetch.Outcome, attempt: Int, isAccepted: Bool, jitter: Double, at now: Timestamp
  ) {
    let again = now + Self.backoff(attempt, jitter)
    switch outcome {
    case .found(let history): self.init(.stored(history))
    case .empty where isAccepted: self.init(.closed(.unknown, reason: "Apple knows no purchase of it"))
    case .empty:
      self.init(closedDoor: "Apple answers as to a wrong bundle id; switchyard api check shows why", at: now)
    case .refused(let code) where attempt >= Self.attempts:
      self.init(.closed(.failed, reason: "Apple's answer was refused: \(code)"))
    case .refused(let code): self.init(.again(at: again, reason: "Apple's answer was refused: \(code)"))
    case .notRecorded: self.init(.released(until: now + .seconds(5)))
    case .failed(let failure):
      switch failure.code {
      case .unauthorized, .noToken: self.init(closedDoor: "\(failure)", at: now)
      case .refused where Self.isOfApp(failure): self.init(closedDoor: "\(failure)", at: now)
      case .refused where Self.isUnknown(failure):
        self.init(.closed(.unknown, reason: "Apple knows no such id"))
      // Without a number it may not be Apple's word at all, or not a whole one.
      case .refused where failure.repetition == .never && failure.errorCode != nil:
        self.init(.closed(.failed, reason: "\(failure)"))
      case .rateLimited, .overBudget:
        let due = max(failure.retryAt ?? again, now + .seconds(1))
        let reason = failure.code.rawValue
        self.init(.released(until: due, because: reason), Pause(until: due, reason: reason))
      case .cancelled: self.init(.released(until: now))
      case .invalidCall: self.init(.closed(.failed, reason: "\(failure)"))
      case .malformedAnswer, .tooLarge, .endlessPaging, .refused:
        let isFinal = attempt >= Self.attempts
        self.init(isFinal ? .closed(.failed, reason: "\(failure)") : .again(at: again, reason: "\(failure)"))
      case .unreachable, .untrusted, .interrupted, .serverFailed:
        // Not of this customer: whoever is asked about next would fare the same, and none is given up.
        self.init(.again(at: again, reason: "\(failure)"))
      }
    }
  }

  private init(_ settlement: HistoryJobTable.Outcome, _ pause: Pause? = nil) {
    self.settlement = settlement
    self.pause = pause
  }

  /// Apple does not let the app in: nobody of it need be asked about before somebody has mended that.
  private init(closedDoor reason: String, at now: Timestamp) {
    let until = now + Self.accessPause
    self.init(
      .released(until: until, because: "\(HistoryJobTable.closedDoor): \(reason)"), Pause(until: until, reason: reason))
  }

  /// From a minute, doubled up to an hour; the second half of it by chance, so that many do not come back together.
  private static func backoff(_ attempt: Int, _ jitter: Double) -> Interval {
    let whole = Backoff(first: .minutes(1), longest: .hours(1)).ceiling(after: attempt)
    return .milliseconds(Int64(Double(whole.milliseconds) * (0.5 + jitter / 2)))
  }

  /// InvalidAppIdentifierError and AppNotFoundError: not the id is wrong.
  package static func isOfApp(_ failure: APIError) -> Bool {
    [4_000_002, 4_040_003].contains(failure.errorCode ?? 0)
  }

  /// Whoever hears of these was let in.
  ///
  /// TransactionIdNotFoundError, what older endpoints say instead, and InvalidTransactionIdError.
  package static func isUnknown(_ failure: APIError) -> Bool {
    failure.code == .refused && [4_040_010, 4_040_005, 4_000_006].contains(failure.errorCode ?? 0)
  }
}
