/// A file that cannot be used, named, with the system's reason.
package struct FileError: ExitStatusError, Equatable, CustomStringConvertible {
  package let path: String
  package let reason: String

  init(_ path: String, _ failure: SystemCall.Failure) {
    self.path = path
    reason = failure.description
  }

  package init(_ path: String, reason: String) {
    self.path = path
    self.reason = reason
  }

  package var exitStatus: ExitStatus { .failed }
  package var description: String { "\(UsageError.shown(path)): \(reason)" }
}
