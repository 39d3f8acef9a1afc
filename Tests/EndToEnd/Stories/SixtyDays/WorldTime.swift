/// The time of a world, for this process and for programs that are started in it: it runs on with the machine's, and jumps
/// when the world does.
///
/// The programs are the ones that operators run: `Tests/WorldTime` stands before their C library.
final class WorldTime: Sendable {
  private let ahead: Mutex<Int64>
  private let path: String

  init(at start: Timestamp, in place: TemporaryDirectory) {
    let ahead = start.sinceEpoch - WallClock.system.now().sinceEpoch
    self.ahead = Mutex(ahead)
    path = place.file("time", Self.bytes(ahead))
  }

  var clock: WallClock {
    WallClock { WallClock.system.now() + .milliseconds(self.ahead.withLock { $0 }) }
  }

  /// By how many milliseconds the world is ahead of the machine.
  var lead: Int64 { ahead.withLock { $0 } }

  /// What puts a program into this time.
  var environment: [String: String] {
    ["LD_PRELOAD": "\(Program.folder)/libWorldTime.so", "WORLD_TIME_FILE": path]
  }

  func advance(by interval: Interval) {
    ahead.withLock { ahead in
      ahead += interval.milliseconds
      let file = unsafe open(path, O_WRONLY | O_CLOEXEC)
      defer { close(file) }
      let bytes = Self.bytes(ahead)
      precondition(unsafe pwrite(file, bytes, bytes.count, 0) == bytes.count, "the time cannot be written")
    }
  }

  private static func bytes(_ ahead: Int64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: ahead >> (8 * $0)) }
  }
}
