import Glibc

/// A file that only its owner may read: where a key lies.
package enum PrivateFile {
  package enum Failure: ExitStatusError, Equatable, CustomStringConvertible {
    /// Something is there already; it is never overwritten.
    case exists(String)
    case notWritable(String, reason: String)

    package var exitStatus: ExitStatus { .failed }

    package var description: String {
      switch self {
      case .exists(let path): "\(UsageError.shown(path)) is there already and is not overwritten"
      case .notWritable(let path, let reason): "\(UsageError.shown(path)) cannot be written: \(reason)"
      }
    }
  }

  /// Makes the file with mode 0600 from its first byte, whole or not at all, and safe from a power cut.
  ///
  /// Written beside its place and linked there, so that of two processes exactly one makes it.
  package static func create(_ path: String, contents: [UInt8]) throws(Failure) {
    let draft = "\(path).\(getpid()).new"
    do {
      try write(contents, to: draft)
    } catch {
      _ = unsafe unlink(draft)
      throw .notWritable(path, reason: error.description)
    }
    let status = unsafe link(draft, path)
    let failure = SystemCall.Failure.last()
    _ = unsafe unlink(draft)
    guard status == 0 else {
      throw failure.number == EEXIST ? .exists(path) : .notWritable(path, reason: failure.description)
    }
  }

  private static func write(_ contents: [UInt8], to path: String) throws(SystemCall.Failure) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .last() }
    defer { SystemCall.close(descriptor) }
    var rest = contents[...]
    while !rest.isEmpty { rest = rest.dropFirst(try SystemCall.write(rest, to: descriptor)) }
    guard fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0 else { throw .last() }
  }
}
