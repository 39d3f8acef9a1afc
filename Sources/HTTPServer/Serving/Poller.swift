#if SWITCHYARD_OWN_LOOP  // Not built yet: the loop that replaces libmicrohttpd's. Remove the condition with `Worker`.
  import Glibc

  /// An epoll instance: says which descriptors something happened to.
  ///
  /// Edge-triggered, registered once for both directions: a connection whose answer is awaited is left alone, and one that
  /// the client has shut down meanwhile does not spin. The price is that each must be read and written until it would
  /// block, or be asked again without waiting.
  struct Poller: ~Copyable, Sendable {
    private let descriptor: Int32

    /// Traps if the process has no descriptor left.
    init() {
      descriptor = epoll_create1(Int32(EPOLL_CLOEXEC.rawValue))
      precondition(descriptor >= 0, "no descriptor left for epoll")
    }

    deinit { close(descriptor) }

    /// False when the system will not watch it; may be called from any thread.
    borrowing func watch(_ other: Int32) -> Bool {
      var event = epoll_event()
      event.events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
      event.data.fd = other
      return unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, other, &event) == 0
    }

    /// The descriptors to which something happened, at most 256 of them; closed ones leave by themselves.
    borrowing func wait(milliseconds: Int32, into ready: inout [Int32]) {
      ready.removeAll(keepingCapacity: true)
      unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 256) { events in
        let count = unsafe epoll_wait(descriptor, events.baseAddress, 256, milliseconds)
        for index in 0..<max(0, Int(count)) { unsafe ready.append(events[index].data.fd) }
      }
    }
  }
#endif
