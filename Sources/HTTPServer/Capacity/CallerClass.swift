/// Whom a connection or a request is counted as.
///
/// What one class does never takes the capacity of another: the public address is open to everybody, and Apple's
/// notifications must get through whatever comes in beside them.
package enum CallerClass: String, Hashable, Sendable, CaseIterable {
  /// An address of Apple's networks.
  case apple
  /// The operator's own: an address of `--back-end-networks`, or a request with a valid token.
  case known
  /// Everybody else.
  case anonymous
}
