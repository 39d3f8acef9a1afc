/// An address that sends more than strangers may.
enum RateLimitedSender {
  /// For the operator, beside each line of the log about one.
  static let advice =
    "if the address is your proxy, name it with `serve --trusted-proxy`; otherwise these are a stranger's"
}
