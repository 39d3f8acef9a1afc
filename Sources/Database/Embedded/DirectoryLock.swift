import Glibc

/// The right to use a directory, held for as long as this lives; ends with the process, however it ends.
struct DirectoryLock: ~Copyable {
  private let descriptor: Int32

  /// Takes the lock file, which then holds our process id; `inUse` with the other's when it is taken.
  init(file path: String) throws(EmbeddedServerError) {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Files.failure("open", path) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      let text = String(decoding: Files.contents(of: path, limit: 32) ?? [], as: UTF8.self)
      let pid = Int32(text.prefix { $0.isNumber }) ?? 0
      throw EmbeddedServerError(.inUse(pid: pid), "\(Files.parent(of: path)) is in use by process \(pid)")
    }
    let text = Array("\(getpid())\n".utf8)
    ftruncate(descriptor, 0)
    guard unsafe pwrite(descriptor, text, text.count, 0) == text.count else {
      close(descriptor)
      throw Files.failure("write", path)
    }
    self.descriptor = descriptor
  }

  deinit {
    // Said aloud: a process being started at this moment shares the descriptor until its exec, and would hold on.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
