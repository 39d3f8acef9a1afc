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

/// One value for each class of callers.
struct PerCallerClass<Value: Sendable>: Sendable {
  private var apple: Value
  private var known: Value
  private var anonymous: Value

  init(_ value: (CallerClass) -> Value) {
    (apple, known, anonymous) = (value(.apple), value(.known), value(.anonymous))
  }

  subscript(caller: CallerClass) -> Value {
    get {
      switch caller {
      case .apple: apple
      case .known: known
      case .anonymous: anonymous
      }
    }
    set {
      switch caller {
      case .apple: apple = newValue
      case .known: known = newValue
      case .anonymous: anonymous = newValue
      }
    }
  }
}
