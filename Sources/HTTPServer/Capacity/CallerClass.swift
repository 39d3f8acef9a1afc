/// The class of a connection's or request's caller.
///
/// Classes do not take each other's capacity: the public address is open to all, and Apple's notifications must always
/// arrive.
package enum CallerClass: String, Hashable, Sendable, CaseIterable {
  /// An address in Apple's networks.
  case apple
  /// The operator's own: an address of `--back-end-networks`, or a request with a valid token.
  case known
  case anonymous
}

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
