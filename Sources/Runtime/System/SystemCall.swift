import Glibc

/// The C library calls of this module, each wrapped once; `errno` is read in the same breath.
enum SystemCall {
  /// What `errno` said.
  struct Failure: Error, Equatable, CustomStringConvertible {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    var description: String { unsafe String(cString: strerror(number)) }

    static func last() -> Self { Self(errno) }
  }

  /// The bytes that could be written, at least one; an interrupted call is made again.
  static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws(Failure) -> Int {
    while true {
      let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 { return count }
      let failure = Failure.last()
      if failure.number != EINTR { throw failure }
    }
  }

  /// Up to `count` bytes; empty at the end.
  static func read(_ count: Int, from descriptor: Int32) throws(Failure) -> [UInt8] {
    while true {
      var failure: Failure?
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        let result = unsafe Glibc.read(descriptor, buffer.baseAddress, count)
        if result < 0 { failure = .last() } else { filled = result }
      }
      guard let failure else { return bytes }
      if failure.number != EINTR { throw failure }
    }
  }

  /// Whether `descriptor` takes at least a page before `milliseconds` are over (-1: waits as long as it takes).
  static func awaitWritable(_ descriptor: Int32, milliseconds: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    while true {
      let ready = unsafe poll(&request, 1, milliseconds)
      if ready >= 0 { return ready > 0 }
      if errno != EINTR { return false }
    }
  }

  /// Whether a read from `descriptor` would return at once; waits for it so long.
  static func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&request, 1, milliseconds) > 0
  }

  static func openForReading(_ path: String) throws(Failure) -> Int32 {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { throw .last() }
    return descriptor
  }

  static func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }

  static func isDirectory(_ descriptor: Int32) -> Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The columns of the terminal behind `descriptor`, if it is one and knows.
  static func columns(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// From now on a write to a closed pipe or socket fails with EPIPE; it no longer ends the process.
  static func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }

  /// Ends the process at once: no clean-up, no `atexit`.
  static func leave(_ status: Int32) -> Never { _exit(status) }
}
