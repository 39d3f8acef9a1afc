import Glibc

/// The memory of this process.
package enum ProcessMemory {
  /// Gives what is free back to the system; for after work that took much.
  ///
  /// malloc keeps it otherwise, apart for each thread that ever had much: work that runs on one thread after the other
  /// then holds its largest many times over. Takes milliseconds for a hundred megabytes, and does nothing where the C
  /// library has no malloc_trim(3).
  package static func giveBack() { _ = trim?(0) }

  /// Looked up by its name: Swift's module of the C library leaves malloc.h out.
  private static let trim: (@convention(c) (Int) -> Int32)? = {
    guard let symbol = unsafe dlsym(nil, "malloc_trim") else { return nil }
    return unsafe unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)
  }()
}
