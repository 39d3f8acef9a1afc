#if SWITCHYARD_OWN_LOOP
  import Glibc
  import Runtime
  import Synchronization

  /// One thread that serves its connections; replaces `Worker`.
  ///
  /// Other threads only leave word in the mailbox: `FrontDoor` a new connection, a handler its answer. Time-outs stay with
  /// `FrontDoor` and `ConnectionTable`, which shut a late connection down; the loop sees its stream end and closes it.
  /// A connection leaves the table before its descriptor is closed, as before.
  final class EventLoop: Sendable {
    enum Word {
      case adopt(OpenConnection)
      case answered(OpenConnection)
      case stop
    }

    private let core: ServerCore
    private let poller = Poller()
    private let wakeUp = WakeUp()  // must become one that can be heard more than once: an eventfd
    private let ended = WakeUp()
    private let mailbox = Mutex<[Word]>([])

    init(core: ServerCore) {
      self.core = core
      precondition(poller.watch(wakeUp.descriptor), "epoll does not take a pipe")
      DedicatedThread.start { [self] in
        run()
        ended.signal()
      }
    }

    func tell(_ word: Word) {
      let isFirst = mailbox.withLock { words in
        words.append(word)
        return words.count == 1
      }
      if isFirst { wakeUp.signal() }
    }

    /// Closes every connection and returns when the thread has ended.
    func stop() {
      tell(.stop)
      var descriptors = [pollfd(fd: ended.descriptor, events: Int16(POLLIN), revents: 0)]
      while unsafe poll(&descriptors, 1, -1) < 1 {}
    }

    private func run() {
      var connections: [Int32: ServedConnection] = [:]
      var ready: [Int32] = []
      /// Those that stopped for fairness, not because they would block.
      var unfinished: [Int32] = []
      var room = [UInt8](repeating: 0, count: 64 << 10)
      while true {
        poller.wait(milliseconds: unfinished.isEmpty ? -1 : 0, into: &ready)
        for word in mailbox.withLock({ words in exchange(&words, []) }) {
          switch word {
          case .adopt(let connection):
            connections[connection.descriptor] = ServedConnection(connection, core: core, loop: self)
            if !poller.watch(connection.descriptor) { ready.append(connection.descriptor) }
          case .answered(let connection): ready.append(connection.descriptor)
          case .stop:
            for connection in connections.values { connection.close() }
            return
          }
        }
        let turn = Set(ready).union(unfinished)
        unfinished.removeAll(keepingCapacity: true)
        for descriptor in turn {
          switch connections[descriptor]?.proceed(&room) {
          case .waits, nil: break
          case .hasMore: unfinished.append(descriptor)
          case .over:
            // The descriptor may be a new connection's at once: it leaves here before it is closed.
            connections.removeValue(forKey: descriptor)?.close()
          }
        }
      }
    }
  }
#endif
