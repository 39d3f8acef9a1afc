import Glibc

/// The right to run a server in a directory while this value exists.
///
/// It ends with the process in any case.
struct DirectoryLock: ~Copyable {
  struct Holder: Equatable {
    let id: pid_t
    /// Whether it stops the server after the last user.
    ///
    /// Otherwise the server ends with the holder.
    let isKeeper: Bool
  }

  private let descriptor: Int32

  /// Locks the file and writes this process's ID to it.
  ///
  /// Throws `inUse` with the holder's ID if it is locked.
  init(file path: String, asKeeper: Bool = false) throws(EmbeddedServerError) {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Files.failure("open", path) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      let pid = Self.named(in: path)?.id ?? 0
      throw EmbeddedServerError(.inUse(pid: pid), "\(Files.parent(of: path)) is in use by process \(pid)")
    }
    do throws(EmbeddedServerError) { try Files.give(descriptor, toOwnerOf: Files.parent(of: path)) } catch {
      close(descriptor)
      throw error
    }
    let text = Array("\(getpid())\(asKeeper ? Self.keeper : "")\n".utf8)
    ftruncate(descriptor, 0)
    guard unsafe pwrite(descriptor, text, text.count, 0) == text.count else {
      close(descriptor)
      throw Files.failure("write", path)
    }
    self.descriptor = descriptor
  }

  deinit {
    // Explicit, since a child process shares the descriptor until its exec, and would keep the lock.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Returns the present holder, or `nil`.
  ///
  /// It takes a shared lock for a moment to find out, so callers of `init` must try more than once. Throws
  /// `tooManyFiles` if no file descriptor is left.
  static func holder(of path: String) throws(EmbeddedServerError) -> Holder? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      let failure = Files.failure("open", path)
      if failure.code == .tooManyFiles { throw failure }
      return nil
    }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else {
      flock(descriptor, LOCK_UN)
      return nil
    }
    return named(in: path) ?? Holder(id: 0, isKeeper: false)
  }

  private static let keeper = " keeper"

  private static func named(in path: String) -> Holder? {
    let text = String(decoding: Files.contents(of: path, limit: 32) ?? [], as: UTF8.self)
    return pid_t(text.prefix { $0.isNumber }).map { Holder(id: $0, isKeeper: text.contains(keeper)) }
  }
}
