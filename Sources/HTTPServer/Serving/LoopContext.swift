import Runtime
import Time

/// The shared data of one loop's connections, only for the loop's thread.
final class LoopContext {
  let core: ServerCore
  let loop: EventLoop
  /// The buffer for input, used by one connection after the other.
  var room = [UInt8](repeating: 0, count: 64 << 10)
  private var date = ""
  private var dateEnds = Deadline(milliseconds: 0)

  init(core: ServerCore, loop: EventLoop) {
    self.core = core
    self.loop = loop
  }

  /// Returns the header field `Date`, with a precision of a second.
  func currentDate() -> String {
    let now = Deadline.now()
    if dateEnds <= now {
      let moment = WallClock.system.now()
      date = DateHeader.text(of: moment)
      dateEnds = now + .milliseconds(1_000 - moment.sinceEpoch % 1_000)
    }
    return date
  }
}
