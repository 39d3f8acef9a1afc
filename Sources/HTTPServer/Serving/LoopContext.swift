import Runtime
import Time

/// What the connections of one loop share; only the loop's thread touches it.
final class LoopContext {
  let core: ServerCore
  let loop: EventLoop
  /// Where bytes arrive, of one connection after the other.
  var room = [UInt8](repeating: 0, count: 64 << 10)
  private var date = ""
  private var dateEnds = Deadline(milliseconds: 0)

  init(core: ServerCore, loop: EventLoop) {
    self.core = core
    self.loop = loop
  }

  /// The moment as the header field `Date` has it; right to a second.
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
