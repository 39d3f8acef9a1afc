import Glibc

/// A program run beside us: its output is read, its errors go where ours go, or to a file.
final class ChildProgram {
  let id: pid_t
  private let output: Int32
  private var pending: [UInt8] = []
  private var hasEnded = false

  init(_ path: String, _ arguments: [String], errors: String? = nil) throws {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { throw BenchmarkError("no pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    if let errors {
      unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    }
    var words: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    var id: pid_t = 0
    let status = unsafe posix_spawnp(&id, path, &actions, nil, &words, environ)
    close(ends[1])
    output = ends[0]
    self.id = id
    guard status == 0 else {
      hasEnded = true
      throw unsafe BenchmarkError("\(path) cannot be started: \(String(cString: strerror(status)))")
    }
  }

  deinit {
    if !hasEnded {
      kill(id, SIGKILL)
      waitpid(id, nil, 0)
    }
    close(output)
  }

  /// The next line of its output; nil at the end.
  func line() -> String? {
    while true {
      if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
        defer { pending.removeSubrange(...end) }
        return String(decoding: pending[..<end], as: UTF8.self)
      }
      var part = [UInt8](repeating: 0, count: 65_536)
      let count = unsafe read(output, &part, part.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return nil }
      pending += part[..<count]
    }
  }

  /// Asks it to end, and waits until it has; its exit code, or 128 and the signal.
  func stop() -> Int32 {
    kill(id, SIGTERM)
    return wait()
  }

  func wait() -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(id, &status, 0) < 0 && errno == EINTR {}
    hasEnded = true
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
  }
}
