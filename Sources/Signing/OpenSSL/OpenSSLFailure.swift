import COpenSSL

/// OpenSSL's last failure on this thread.
///
/// The error queue belongs to the thread, so it must be read in the same synchronous function as the failed call. It is
/// emptied, because a remaining error would appear as the next caller's.
enum OpenSSLFailure {
  /// Returns the reason of the oldest error, and empties the queue.
  static func drain() -> String {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0, let reason = unsafe ERR_reason_error_string(code) else { return "no reason given" }
    return unsafe String(cString: reason)
  }
}
