import Glibc

/// A thread of its own for a loop that blocks in C for as long as the process lives.
///
/// It takes no signals: those belong to whoever watches for them. (A serial dispatch queue is the choice for calls that
/// block and return; a loop would hold one of its threads for ever.)
package enum DedicatedThread {
  /// Runs `body` to its end; traps if the system gives no thread, as Dispatch does.
  package static func start(_ body: @escaping @Sendable () -> Void) {
    let box = unsafe Unmanaged.passRetained(Body(body))
    var thread: pthread_t = 0
    let status = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        unsafe pthread_sigmask(SIG_SETMASK, &signals, nil)
        body.run()
        return nil
      }, box.toOpaque())
    precondition(status == 0, "the system gives no thread (\(status))")
    pthread_detach(thread)
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
