import Glibc

/// Ends another thread's `poll` for good: a pipe, readable from the first `signal()` on.
struct WakeUp: ~Copyable, Sendable {
  let descriptor: Int32
  private let other: Int32

  /// Traps if the process has no descriptor left.
  init() {
    var ends: [Int32] = [-1, -1]
    let status = unsafe pipe(&ends)
    precondition(status == 0, "no descriptor left for a pipe")
    (descriptor, other) = (ends[0], ends[1])
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(other, F_SETFD, FD_CLOEXEC)
    _ = fcntl(other, F_SETFL, O_NONBLOCK)
  }

  deinit {
    close(descriptor)
    close(other)
  }

  borrowing func signal() {
    var byte: UInt8 = 1
    _ = unsafe write(other, &byte, 1)
  }
}
