import CMariaDB
import Glibc

/// The file that says who uses a private database: each user holds a shared lock on it, and the keeper takes an
/// exclusive one before it stops the server.
///
/// The locks belong to open file descriptions (fcntl(2), F_OFD_SETLK). The kernel releases them however a process ends,
/// and tells what others hold without taking anything.
final class UsageLockFile: Sendable {
  /// What other processes hold.
  enum Others {
    case nothing
    /// At least one of them uses the database.
    case users
    /// A keeper is stopping the database.
    case keeper
  }

  private let path: String
  private let descriptor: Int32

  /// Opens the file, which is made if need be; nothing is locked yet.
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

  /// Adds this process to the users; false while a keeper is stopping the database.
  func join() throws(EmbeddedServerError) -> Bool {
    switch file_lock_set(descriptor, F_RDLCK, 0) {
    case 0: return true
    case EAGAIN, EACCES: return false
    case let reason: throw failure(reason)
    }
  }

  /// Gives the lock back, whichever it is.
  ///
  /// Said aloud and not left to `close`: a process that is being started shares the description until its exec.
  func leave() { _ = file_lock_set(descriptor, F_UNLCK, 0) }

  /// Waits until nobody uses the database, and keeps others from joining from then on.
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
