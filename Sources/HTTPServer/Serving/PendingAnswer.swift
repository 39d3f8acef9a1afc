#if SWITCHYARD_OWN_LOOP
  import Synchronization

  /// The answer to one request, from the handler's start until its connection takes it; replaces `Exchange`.
  ///
  /// Whoever is first has answered: the handler, or `FrontDoor` when its time is up. The other's answer is dropped.
  final class PendingAnswer: Sendable {
    private enum State {
      /// The handler has begun on the loop's thread and has not yet let go of it.
      case starting
      case awaited(Task<Void, Never>)
      case ready(HTTPResponse)
      case taken
    }

    let connection: OpenConnection
    private let core: ServerCore
    private let loop: EventLoop
    private let state = Mutex(State.starting)

    init(_ connection: OpenConnection, core: ServerCore, loop: EventLoop) {
      (self.connection, self.core, self.loop) = (connection, core, loop)
    }

    /// Starts the handler; its answer may be there when this returns.
    ///
    /// The body counts until the handler lets go of it.
    func start(_ request: HTTPRequest, share: BodyShare?) {
      core.unanswered.wrappingAdd(1, ordering: .sequentiallyConsistent)
      // The one task without a parent: this is a thread's edge. The core counts it until it has answered.
      let task = Task.immediate { [handler = core.handler] in
        let response = await handler.respond(to: request)
        answer(response)
        withExtendedLifetime(share) {}
      }
      state.withLock { state in
        if case .starting = state { state = .awaited(task) }
      }
    }

    /// Answers in the handler's place and cancels it; false when there is nothing to take over (yet).
    func takeOver(with response: HTTPResponse) -> Bool {
      let task: Task<Void, Never>? = state.withLock { state in
        guard case .awaited(let task) = state else { return nil }
        state = .ready(response)
        return task
      }
      guard let task else { return false }
      task.cancel()
      announce()
      return true
    }

    /// The answer, once; nil while there is none.
    func take() -> HTTPResponse? {
      state.withLock { state in
        guard case .ready(let response) = state else { return nil }
        state = .taken
        return response
      }
    }

    private func answer(_ response: HTTPResponse) {
      let isFirst = state.withLock { state in
        switch state {
        case .starting, .awaited:
          state = .ready(response)
          return true
        case .ready, .taken: return false
        }
      }
      if isFirst { announce() }
    }

    /// In this order: the loop must not end between the two while a handler still has word for it.
    private func announce() {
      loop.tell(.answered(connection))
      core.unanswered.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    }
  }
#endif
