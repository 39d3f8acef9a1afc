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
}
