import Runtime
import Synchronization

/// One thread that serves its connections.
///
/// This is its interface for other threads: they queue commands for the loop's own thread (`EventLoopThread`), which
/// has exclusive access to its connections.
final class EventLoop: Sendable {
  enum Command {
    case adopt(AcceptedConnection)
    /// The response for this connection is ready.
    case answered(UInt64)
    /// Close idle connections after a moment, and the others after their response.
    case drain
    /// Respond with 503 instead of all handlers, and end.
    case stop
  }

  private let core: ServerCore
  private let wakeUp = EventFD()
  private let ended = EventFD()
  private let mailbox = Mutex<[Command]>([])
  private let unfinished = Atomic(0)

  /// Starts the thread, which runs until `stop`.
  init(core: ServerCore, tls: TLSContext?) {
    self.core = core
    DedicatedThread.start { [self] in
      let count = EventLoopThread(core: core, loop: self, tls: tls).run()
      unfinished.store(count, ordering: .releasing)
      ended.signal()
    }
  }

  func tell(_ word: Command) {
    let isFirst = mailbox.withLock { words in
      words.append(word)
      return words.count == 1
    }
    if isFirst { wakeUp.signal() }
  }

  /// Waits until the thread has ended, after `stop`; returns the number of requests that it answered instead of their
  /// handlers.
  func join() -> Int {
    ended.wait()
    return unfinished.load(ordering: .acquiring)
  }

  // MARK: For the thread

  var wakeUpDescriptor: Int32 { wakeUp.descriptor }

  func words() -> [Command] {
    wakeUp.hear()
    return mailbox.withLock { words in
      defer { words = [] }
      return words
    }
  }
}
