import Database
import HTTPClient
import Ledger
import Runtime
import Signing
import Synchronization
import Time

/// What is done at the destination.
extension DestinationLine {
  /// Makes an attempt, and then one after the other for as long as its slot finds something in its lane.
  func attempt(startingWith work: LineState.Work) async {
    var next: LineState.Work? = work
    while let work = next {
      await attempt(work)
      signal.yield()
      next = state.withLock { $0.start(work.delivery.proof) }
    }
  }

  func attempt(_ work: LineState.Work) async {
    let (destination, start) = (destination, means.pacing.elapsed())
    let attempt = await post(work, to: destination)
    let (took, now) = (means.pacing.elapsed().milliseconds - start.milliseconds, means.clock.now())
    let refusals = state.withLock { $0.refusals(of: work, attempt) }
    let outcome = Settlement.Outcome(
      after: attempt, of: work.delivery, refusals: refusals, backoff: means.settings.backoff, at: now,
      random: means.pacing.random)
    let change = state.withLock {
      $0.note(attempt, of: work, outcome, within: took, at: now, random: means.pacing.random)
    }
    tell(work, attempt, outcome, destination)
    if let change {
      means.logger.warning(
        change.isDown ? "a destination seems to be down; it is probed periodically" : "a destination is up again",
        metadata: ["destination": "\(destination.name)", "host": "\(destination.host)"])
    }
  }

  private func post(_ work: LineState.Work, to destination: Destination) async -> Attempt {
    let (delivery, deadline) = (work.delivery, means.settings.deadline)
    // A database that was slow may have used the lease up: sent now, it could arrive after what another process sends.
    guard !Task.isCancelled, means.clock.now() + deadline <= delivery.leasedUntil else {
      return .failed(.noAnswer(.cancelled))
    }
    let body: [UInt8]
    switch work.body {
    case .read(let bytes): body = bytes
    case .missing: return .failed(.bodyMissing)
    case .unreadable: return .failed(.bodyUnreadable)
    }
    let start = means.pacing.elapsed()
    let envelope = Envelope(delivery.message, body: body, to: destination)
    let outcome = await means.post(envelope.request(within: deadline))
    means.metrics.noteAttempt(milliseconds: means.pacing.elapsed().milliseconds - start.milliseconds)
    return outcome
  }

  private func tell(
    _ work: LineState.Work, _ attempt: Attempt, _ outcome: Settlement.Outcome, _ destination: Destination
  ) {
    guard case .failed(let reason) = attempt else { return means.metrics.outcomes["delivered"].increment() }
    let metadata: Logger.Metadata = [
      "message": "\(work.delivery.message.hex.prefix(12))", "host": "\(destination.host)",
      "attempt": "\(work.delivery.attempt)", "reason": "\(reason)",
    ]
    switch outcome {
    case .delivered, .released: return
    case .dead:
      means.metrics.outcomes["dead"].increment()
      // Of what nothing vouches for anybody can make any number.
      means.logger.log(
        level: work.delivery.proof == .unproven ? .debug : .error,
        reason == .bodyUnreadable
          ? "given up: `switchyard doctor` says which key is missing"
          : "given up; `switchyard outbox replay` sends it again",
        metadata: metadata)
    case .failed:
      means.metrics.outcomes["failed"].increment()
      means.logger.notice("not delivered; it is tried again", metadata: metadata)
    }
  }
}
