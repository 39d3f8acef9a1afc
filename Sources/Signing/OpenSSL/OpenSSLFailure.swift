import COpenSSL

/// What OpenSSL said about its last failure on this thread.
///
/// The queue of errors belongs to the thread, so it is read in the same synchronous function as the call that
/// failed, and it is emptied: an error left behind would be taken for the next caller's.
enum OpenSSLFailure {
  /// The reason of the oldest error, and an empty queue afterwards.
  static func drain() -> String {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0, let reason = unsafe ERR_reason_error_string(code) else { return "no reason given" }
    return unsafe String(cString: reason)
  }
}
