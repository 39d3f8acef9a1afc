import Glibc
package import Time

extension WallClock {
  /// The machine's clock; only the command line hands it on.
  package static let system = WallClock {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
