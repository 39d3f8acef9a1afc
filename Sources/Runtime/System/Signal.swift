import Glibc

/// A signal that a person or a supervisor sends to a running process.
package enum Signal: Sendable, CaseIterable {
  case hangup, interrupt, terminate

  package var number: Int32 {
    switch self {
    case .hangup: SIGHUP
    case .interrupt: SIGINT
    case .terminate: SIGTERM
    }
  }

  package var name: String {
    switch self {
    case .hangup: "SIGHUP"
    case .interrupt: "SIGINT"
    case .terminate: "SIGTERM"
    }
  }

  /// What a process that ended because of it answers: 128 + number, as a shell would say.
  package var exitCode: Int32 { 128 + number }
}
