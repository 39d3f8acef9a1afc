import JSON
import Ledger
import Purchases
import Signing
import Synchronization
import Time

/// Decides which of Apple's responses for one receipt are recorded immediately, and which later.
///
/// A receipt that is posted repeatedly gets a new response each time, which is a new message because of its request
/// date. A response equal to one recorded less than a minute ago is held until that minute ends, and a newer equal one
/// replaces it. It is never dropped: an equal response is news if another message differed meanwhile, as after a
/// reversed refund. Different responses never wait for one another.
final class ResponseDeduplicator: Sendable {
  struct Settings: Sendable {
    /// The time after which an equal response is recorded again.
    var every = Interval.minutes(1)
    /// The number of remembered different responses; others are recorded immediately.
    var answers = 16_384
    /// The bytes of all held responses; a response that does not fit is recorded immediately.
    var bytes = 16 << 20

    init() {}
  }

  /// A response with its arrival time, app and environment.
  struct Answer: Sendable {
    let body: [UInt8]
    let environment: Environment
    let receivedAt: Timestamp
    /// The digest of its app, environment and content, without the request date and Apple's copy of the receipt, which
    /// is new each time.
    let words: Digest

    init(_ body: [UInt8], _ answer: JSONObject, of app: App, environment: Environment, receivedAt: Timestamp) {
      self.body = body
      self.environment = environment
      self.receivedAt = receivedAt
      var (said, receipt) = (answer, answer["receipt"]?.object ?? JSONObject())
      for date in ["request_date", "request_date_ms", "request_date_pst"] { receipt[date] = nil }
      (said["receipt"], said["latest_receipt"]) = (.object(receipt), nil)
      words = .sha256(
        Array("\(app.id.number) \(environment.rawValue) ".utf8) + JSONValue.object(said).canonicallyEncoded())
    }
  }

  enum Turn: Sendable, Equatable {
    case now
    /// It is held: after this time the caller must take the held response, and record it.
    case later(Duration)
    /// It replaced an equal one that was held.
    case inPlaceOfAnother
  }

  private struct Recorded {
    var at: ContinuousClock.Instant
    var held: Answer?
  }

  private struct State {
    var recorded: [Digest: Recorded] = [:]
    var heldBytes = 0
    var sweptAt: ContinuousClock.Instant?
  }

  private let settings: Settings
  private let state = Mutex(State())

  private static let sweepEvery = Duration.seconds(1)

  init(_ settings: Settings = Settings()) { self.settings = settings }

  private var every: Duration { .milliseconds(settings.every.milliseconds) }

  func turn(of answer: Answer, at now: ContinuousClock.Instant = .now) -> Turn {
    state.withLock { state in
      guard var known = state.recorded[answer.words] else {
        if state.recorded.count >= settings.answers { forgetOld(&state, at: now) }
        if state.recorded.count < settings.answers { state.recorded[answer.words] = Recorded(at: now) }
        return .now
      }
      defer { state.recorded[answer.words] = known }
      let bytes = state.heldBytes - (known.held?.body.count ?? 0) + answer.body.count
      // A held response that is due is replaced as well: its caller will record it soon.
      guard known.held != nil || now - known.at < every, bytes <= settings.bytes else {
        known.at = now
        return .now
      }
      state.heldBytes = bytes
      defer { known.held = answer }
      return known.held == nil ? .later(every - (now - known.at)) : .inPlaceOfAnother
    }
  }

  func release(_ words: Digest, at now: ContinuousClock.Instant = .now) -> Answer? {
    state.withLock { state in
      guard let held = state.recorded[words]?.held else { return nil }
      state.heldBytes -= held.body.count
      state.recorded[words] = Recorded(at: now)
      return held
    }
  }

  /// Removes entries without effect; at most once a second, since it scans all.
  private func forgetOld(_ state: inout State, at now: ContinuousClock.Instant) {
    if let sweptAt = state.sweptAt, now - sweptAt < Self.sweepEvery { return }
    state.sweptAt = now
    state.recorded = state.recorded.filter { $0.value.held != nil || now - $0.value.at < every }
  }
}
