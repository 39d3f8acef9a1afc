/// A pipe of its own for a test; both ends are closed at the end.
final class Pipe: Sendable {
  struct Failure: Error {}

  let reading: Int32
  private let end: Mutex<Int32>

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw Failure() }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    reading = ends[0]
    end = Mutex(ends[1])
  }

  deinit {
    closeWriting()
    close(reading)
  }

  var writing: Int32 { end.withLock { $0 } }

  func closeWriting() {
    end.withLock {
      if $0 >= 0 { close($0) }
      $0 = -1
    }
  }

  /// Everything written so far and until the end.
  func closeAndRead() -> String {
    closeWriting()
    var all: [UInt8] = []
    while case let part = read(65_536), !part.isEmpty { all += part }
    return String(decoding: all, as: UTF8.self)
  }

  /// What is there, at most `count` bytes; waits for the first.
  func read(_ count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = unsafe max(0, Glibc.read(reading, buffer.baseAddress, count))
    }
  }

  /// The bytes a pipe of Linux holds before it is full.
  static let capacity = 65_536
}
