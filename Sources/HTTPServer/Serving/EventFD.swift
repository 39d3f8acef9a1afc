import CLinux
import Glibc

/// An eventfd that wakes a thread in `poll` or `epoll_wait`: readable from `signal()` until the next reset.
struct EventFD: ~Copyable, Sendable {
  let descriptor: Int32

  /// Traps if the process has no descriptor left.
  init() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    precondition(descriptor >= 0, "no descriptor left for an eventfd")
  }

  deinit { close(descriptor) }

  /// Makes it readable; may be called from any thread, any number of times.
  borrowing func signal() { _ = eventfd_write(descriptor, 1) }

  borrowing func hear() {
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(descriptor, &count)
  }

  /// Blocks until it is signalled.
  borrowing func wait() {
    var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
    while unsafe poll(&descriptors, 1, -1) < 1 {}
  }
}
