import JSON
import Ledger
import Purchases
import Signing
import Synchronization
import Time

/// Which of Apple's answers about one receipt are recorded at once, and which a while later.
///
/// Whoever posts a receipt again and again gets an answer each time, and each is a message of its own, by the date of its
/// request. One that says what an answer recorded less than a minute ago said is held back until that one is a minute old,
/// and gives way to the next one that says the same. It is never dropped: the same words are news if another message has
/// said something else meanwhile, as after a refund that was reversed. Answers of different words never wait for one another.
final class ResponseDeduplicator: Sendable {
  struct Settings: Sendable {
    /// How long after an answer was recorded one that says the same is recorded again.
    var every = Interval.minutes(1)
    /// Answers of different words that are remembered; others are recorded at once.
    var answers = 16_384
    /// Bytes of all answers that are held back; what finds no room is recorded at once.
    var bytes = 16 << 20

    init() {}
  }

  /// An answer, with when it came and whose it is.
  struct Answer: Sendable {
    let body: [UInt8]
    let environment: Environment
    let receivedAt: Timestamp
    /// Of which app and environment it is and all that it says, but for the date of the request and Apple's copy of the
    /// receipt, which is made anew each time.
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
    /// It is to be recorded.
    case now
    /// It is held back: after this time whoever was told so takes what is held, and records it.
    case later(Duration)
    /// It has taken the place of one that said the same and was held back.
    case inPlaceOfAnother
  }

  private struct Recorded {
    var at: ContinuousClock.Instant
    var held: Answer?
  }

  private struct State {
    /// By their words.
    var recorded: [Digest: Recorded] = [:]
    var heldBytes = 0
    var sweptAt: ContinuousClock.Instant?
  }

  private let settings: Settings
  private let state = Mutex(State())

  private static let sweepEvery = Duration.seconds(1)

  init(_ settings: Settings = Settings()) { self.settings = settings }

  private var every: Duration { .milliseconds(settings.every.milliseconds) }

  /// Returns what is to be done with an answer.
  func turn(of answer: Answer, at now: ContinuousClock.Instant = .now) -> Turn {
    state.withLock { state in
      guard var known = state.recorded[answer.words] else {
        if state.recorded.count >= settings.answers { forgetOld(&state, at: now) }
        if state.recorded.count < settings.answers { state.recorded[answer.words] = Recorded(at: now) }
        return .now
      }
      defer { state.recorded[answer.words] = known }
      let bytes = state.heldBytes - (known.held?.body.count ?? 0) + answer.body.count
      // What is held and has come to its time gives way as well: whoever records it is about to.
      guard known.held != nil || now - known.at < every, bytes <= settings.bytes else {
        known.at = now
        return .now
      }
      state.heldBytes = bytes
      defer { known.held = answer }
      return known.held == nil ? .later(every - (now - known.at)) : .inPlaceOfAnother
    }
  }

  /// Returns the answer of these words that is held back, to be recorded now.
  func release(_ words: Digest, at now: ContinuousClock.Instant = .now) -> Answer? {
    state.withLock { state in
      guard let held = state.recorded[words]?.held else { return nil }
      state.heldBytes -= held.body.count
      state.recorded[words] = Recorded(at: now)
      return held
    }
  }

  /// Forgets what decides about nothing any more; at most once a second, since it looks at all.
  private func forgetOld(_ state: inout State, at now: ContinuousClock.Instant) {
    if let sweptAt = state.sweptAt, now - sweptAt < Self.sweepEvery { return }
    state.sweptAt = now
    state.recorded = state.recorded.filter { $0.value.held != nil || now - $0.value.at < every }
  }
}
