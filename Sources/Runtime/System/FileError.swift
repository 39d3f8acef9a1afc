/// A file that cannot be used, named, with the system's reason.
package struct FileError: ExitStatusError, Equatable, CustomStringConvertible {
  package let path: String
  package let reason: String
  /// Whether its content is at fault, so that no other attempt can succeed.
  package let isDamage: Bool

  init(_ path: String, _ failure: SystemCall.Failure) {
    self.path = path
    reason = failure.description
    isDamage = false
  }

  package init(_ path: String, reason: String, isDamage: Bool = false) {
    self.path = path
    self.reason = reason
    self.isDamage = isDamage
  }

  package var exitStatus: ExitStatus { .failed }
  package var description: String { "\(UsageError.shown(path)): \(reason)" }
}
