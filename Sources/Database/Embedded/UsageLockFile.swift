import CMariaDB
import Glibc

/// The lock file of a private database's users: each holds a shared lock, and the supervisor takes an exclusive one
/// before it stops the server.
///
/// The locks belong to open file descriptions (fcntl(2), F_OFD_SETLK). The kernel releases them when a process ends in
/// any way, and reports other locks without taking one.
final class UsageLockFile: Sendable {
  /// The locks of other processes.
  enum Others {
    case nothing
    case users
    case keeper
  }

  private let path: String
  private let descriptor: Int32

  /// Opens the file without a lock, and creates it if necessary.
  init(_ path: String) throws(EmbeddedServerError) {
    self.path = path
    descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Files.failure("open", path) }
    try Files.give(descriptor, toOwnerOf: Files.parent(of: path))
  }

  deinit {
    leave()
    close(descriptor)
  }

  /// Adds this process to the users.
  ///
  /// Returns false while a supervisor is stopping the database.
  func join() throws(EmbeddedServerError) -> Bool {
    switch file_lock_set(descriptor, F_RDLCK, 0) {
    case 0: return true
    case EAGAIN, EACCES: return false
    case let reason: throw failure(reason)
    }
  }

  /// Releases either lock.
  ///
  /// Explicit instead of by `close`: a child process shares the description until its exec.
  func leave() { _ = file_lock_set(descriptor, F_UNLCK, 0) }

  /// Waits until no process uses the database, and prevents others from joining from then on.
  func lockOut() async throws {
    while true {
      switch file_lock_set(descriptor, F_WRLCK, 0) {
      case 0: return
      case EAGAIN, EACCES: try await Task.sleep(for: .milliseconds(50))
      case let reason: throw failure(reason)
      }
    }
  }

  var others: Others {
    switch file_lock_of_others(descriptor) {
    case F_RDLCK: .users
    case F_WRLCK: .keeper
    default: .nothing
    }
  }

  private func failure(_ reason: Int32) -> EmbeddedServerError {
    unsafe EmbeddedServerError(.directory, "cannot lock \(path): \(String(cString: strerror(reason)))")
  }
}
