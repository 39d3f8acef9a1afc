import Glibc

/// How many files and sockets this process may have open at once.
package enum OpenFileLimit {
  /// Raises the limit to the most that the system allows this process; the limit from now on.
  ///
  /// systemd and most shells begin with 1,024, which one busy service needs for its clients alone.
  @discardableResult
  package static func raise() -> Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    let before = limit.rlim_cur
    limit.rlim_cur = limit.rlim_max
    let isRaised = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    return Int(clamping: isRaised ? limit.rlim_cur : before)
  }
  /// The number from which on a descriptor is not used for a connection of a client.
  ///
  /// A new descriptor is the lowest one that is free, so its number tells how many there are.
  package static var endOfClients: Int32 { end { $0 - min(128, $0 / 2) } }

  /// The number from which on a descriptor is not used for a connection to others, for whom some are left by clients.
  ///
  /// The rest of the process always has some: libdispatch ends it when it cannot open a file of /proc, and looks every second
  /// how busy its threads are.
  package static var endOfConnections: Int32 { end { $0 - min(64, $0 / 4) } }

  private static func end(_ end: (Int) -> Int) -> Int32 {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
    return Int32(clamping: end(Int(clamping: limit.rlim_cur)))
  }
}
