import Runtime
import Synchronization

/// One thread that serves its connections.
///
/// This is the side of it that other threads see: they leave word, and the loop's own thread (`EventLoopThread`) acts on it.
/// Nobody else touches its connections.
final class EventLoop: Sendable {
  enum Command {
    /// Serve this connection from now on.
    case adopt(AcceptedConnection)
    /// The answer that this connection waits for is there.
    case answered(UInt64)
    /// Close what is idle after a moment, and everything else after its answer.
    case drain
    /// Answer 503 in the place of all handlers, and end.
    case stop
  }

  private let core: ServerCore
  private let wakeUp = EventFD()
  private let ended = EventFD()
  private let mailbox = Mutex<[Command]>([])
  private let unfinished = Atomic(0)

  /// Starts the thread; it runs until told to stop.
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

  /// Waits until the thread has ended, after `stop`; returns how many requests it answered in their handlers' place.
  func join() -> Int {
    ended.wait()
    return unfinished.load(ordering: .acquiring)
  }

  // MARK: For the thread

  /// For the poller, to watch.
  var wakeUpDescriptor: Int32 { wakeUp.descriptor }

  /// Takes what other threads have left, oldest first.
  func words() -> [Command] {
    wakeUp.hear()
    return mailbox.withLock { words in
      defer { words = [] }
      return words
    }
  }
}
