import CLinux
import Glibc

/// An epoll instance that reports sockets with events.
///
/// Edge-triggered, and each socket is registered once, for both directions. A connection that waits for a response
/// costs no call, and one that the client has shut down does not spin. So each connection must move bytes until it
/// would block, or retry without waiting. Sockets have a number that is never reused. A descriptor is reused, so an
/// event for a closed one could reach the connection that got it next.
struct Poller: ~Copyable, Sendable {
  struct Event {
    let id: UInt64
    /// The other side has ended its stream, or the connection is broken.
    let isEnded: Bool
  }

  private let descriptor: Int32

  /// Traps if the process has no descriptor left.
  init() {
    descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    precondition(descriptor >= 0, "no descriptor left for epoll")
  }

  deinit { close(descriptor) }

  /// Returns false when the system will not watch it.
  ///
  /// A closed descriptor is removed automatically.
  borrowing func watch(_ other: Int32, as id: UInt64) -> Bool {
    var event = unsafe epoll_event()
    unsafe event.events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
    unsafe event.data.u64 = id
    return unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, other, &event) == 0
  }

  /// Waits for events, and writes them to `events`; -1 waits without a limit.
  borrowing func wait(milliseconds: Int32, into events: inout [Event]) {
    events.removeAll(keepingCapacity: true)
    unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.most) { room in
      let count = unsafe epoll_wait(descriptor, room.baseAddress, Int32(Self.most), milliseconds)
      for index in 0..<max(0, Int(count)) {
        let event = unsafe room[index]
        let ended = EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue
        unsafe events.append(Event(id: event.data.u64, isEnded: event.events & ended != 0))
      }
    }
  }

  private static let most = 256
}
