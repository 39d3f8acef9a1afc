import Synchronization
import Time

/// One connection: where it stands and until when that may last.
final class OpenConnection: Sendable {
  enum Phase {
    /// Nothing of a request has arrived.
    case waiting
    case receiving
    case answering(Exchange)
    case sending
  }

  struct Situation {
    var phase: Phase
    var deadline: Deadline
  }

  let descriptor: Int32
  let peer: PeerAddress
  private let situation: Mutex<Situation>

  /// A connection whose first request must have arrived by `deadline`.
  init(descriptor: Int32, peer: PeerAddress, deadline: Deadline) {
    self.descriptor = descriptor
    self.peer = peer
    situation = Mutex(Situation(phase: .waiting, deadline: deadline))
  }

  func enter(_ phase: Phase, for interval: Interval) {
    let deadline = Deadline.in(interval)
    situation.withLock { $0 = Situation(phase: phase, deadline: deadline) }
  }

  func phase() -> Phase { situation.withLock { $0.phase } }

  /// Where the connection stands if its time is up.
  func overdue(at now: Deadline) -> Phase? {
    situation.withLock { $0.deadline < now ? $0.phase : nil }
  }

  /// No time-out will be reported again; for a connection that has been cut.
  func forgetDeadline() { situation.withLock { $0.deadline = .never } }
}
