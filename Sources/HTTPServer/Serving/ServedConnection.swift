#if SWITCHYARD_OWN_LOOP
  import Glibc

  /// One connection as its loop serves it, from the first byte to the close.
  ///
  /// Only the loop's thread touches it. The steps of one request: head → admission → body → handler → answer; then the
  /// next, or the end. Reading stops while an answer is awaited or sent, so that a client cannot make the server read
  /// ahead of its answers.
  final class ServedConnection {
    enum Progress { case waits, hasMore, over }

    private enum Step {
      case reading
      /// What is left of a refused body is read and dropped, so that the client gets to read the answer.
      case discarding(HTTPResponse, left: Int)
      case answering(PendingAnswer)
      case sending(from: Int)
      /// The answer is out and the end announced; what still comes is dropped for a moment, since closing with unread
      /// bytes resets the connection and takes the answer with it.
      case lingering(left: Int)
    }

    private let connection: OpenConnection
    private let core: ServerCore
    private let loop: EventLoop
    private let transport: any Transport
    private var requests: RequestStream
    private var step = Step.reading
    private var head: RequestHead?
    private var request: HTTPRequestHead?
    private var body: IncomingBody?
    private var output: [UInt8] = []
    private var closesAfterAnswer = false

    init(_ connection: OpenConnection, core: ServerCore, loop: EventLoop) {
      (self.connection, self.core, self.loop) = (connection, core, loop)
      // Here: O_NONBLOCK, which `accept` does not set, and TCP_NODELAY, since head and body are written apart.
      transport = PlainTransport(connection.descriptor)
      requests = RequestStream(limits: core.limits)
    }

    func close() {
      core.table.remove(connection)
      Glibc.close(connection.descriptor)
    }

    /// Does what can be done without waiting, up to one full room of bytes.
    func proceed(_ room: inout [UInt8]) -> Progress {
      while true {
        switch step {
        case .reading, .discarding:
          if advance() { continue }
          guard case .bytes = fill(&room) else { return .waits }  // .over when the stream has ended
        case .answering(let pending):
          guard let response = pending.take() else { return .waits }
          queue(response)
        case .sending(let start): _ = start  // write; at the end: .reading, or finish() and .lingering
        case .lingering(let left): _ = left  // read and drop; .over at the stream's end
        }
      }
    }

    private func fill(_ room: inout [UInt8]) -> Moved {
      let moved = unsafe room.withUnsafeMutableBytes { unsafe transport.read(into: $0) }
      if case .bytes(let count) = moved {
        if head == nil, !requests.hasUnread { connection.enter(.receiving, for: core.limits.receive) }
        core.tally.received(bytes: count)
        requests.append(room.span.extracting(0..<count))
      }
      return moved
    }

    /// Takes the next event; false when more bytes are needed.
    private func advance() -> Bool {
      switch requests.next() {
      case .needsMore: return false
      case .head(let head):
        self.head = head
        admit(head)  // as Exchange.receiveHead: admission, 413, `IncomingBody`, `100 Continue` if head.awaitsContinue
      case .body(let range): _ = range  // body?.append(requests.buffer[range]); .tooLong → 413, .overBudget → 503
      case .end: start()  // `PendingAnswer.start`, then .answering; 503 if core.isClosing
      case .fault(let fault):
        core.refused(fault.status == 431 || fault.status == 414 ? .headTooLarge : .malformed, connection.peer)
        closesAfterAnswer = true
        queue(HTTPResponse(status: fault.status))
      }
      return true
    }
  }
#endif
