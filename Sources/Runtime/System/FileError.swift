import Glibc

/// A file that cannot be used, named, with the system's reason.
package struct FileError: ExitStatusError, Equatable, CustomStringConvertible {
  package let path: String
  package let reason: String
  /// Whether its content is at fault, so that no other attempt can succeed.
  package let isDamage: Bool

  init(_ path: String, _ failure: SystemCall.Failure) {
    self.path = path
    reason = failure.number == ENOENT ? Self.missing : failure.description
    isDamage = false
  }

  private static let missing = "there is no file"

  /// No file or folder has this path.
  package static func missing(_ path: String) -> Self { Self(path, reason: missing) }

  package init(_ path: String, reason: String, isDamage: Bool = false) {
    self.path = path
    self.reason = reason
    self.isDamage = isDamage
  }

  package var exitStatus: ExitStatus { .failed }
  package var description: String {
    reason == Self.missing ? "\(reason) \(UsageError.shown(path))" : "\(UsageError.shown(path)): \(reason)"
  }
}
