/// What the process tells its caller; documented to operators, so never renumbered.
package enum ExitStatus: Int32, Sendable, CaseIterable, Error {
  /// Everything that was asked for is done.
  case done = 0
  /// It did not work; stderr says why.
  case failed = 1
  /// The command line is wrong; nothing was done.
  case usage = 2
  /// Done, but some items were rejected and are listed.
  case doneWithRejects = 3
  /// A gate refused: it is not proven safe.
  case refused = 4
  /// A comparison found differences.
  case differences = 5
  /// Stopped before the end; a checkpoint is written and the same command resumes.
  case stopped = 6
  /// A limit outside of us: Apple answered 429 or 5xx.
  case externalLimit = 7
  /// Stopped by SIGINT; what was done stays.
  case interrupted = 130
  /// Stopped by SIGTERM; what was done stays.
  case terminated = 143

  package init(endedBy signal: Signal) {
    switch signal {
    case .hangup, .terminate: self = .terminated
    case .interrupt: self = .interrupted
    }
  }

  /// One line for the help and the manual.
  package var summary: String {
    switch self {
    case .done: "done"
    case .failed: "failed"
    case .usage: "wrong usage; nothing was done"
    case .doneWithRejects: "done with rejects"
    case .refused: "a gate refused: not proven safe"
    case .differences: "differences found"
    case .stopped: "stopped; the same command resumes"
    case .externalLimit: "a limit outside (Apple 429 or 5xx)"
    case .interrupted: "stopped by SIGINT; what was done stays"
    case .terminated: "stopped by SIGTERM; what was done stays"
    }
  }
}

/// An error that knows how the process should end; every other one ends with `failed`.
package protocol ExitStatusError: Error {
  var exitStatus: ExitStatus { get }
}
