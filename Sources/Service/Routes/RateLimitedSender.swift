enum RateLimitedSender {
  /// The advice for the operator in each log line about one.
  static let advice =
    "if the address is your proxy, name it with `serve --trusted-proxy`; otherwise these are a stranger's"
}
