/// A value that several tasks of a test change.
final class Shared<Value: Sendable>: Sendable {
  private let mutex: Mutex<Value>

  init(_ value: Value) { mutex = Mutex(value) }

  var value: Value { mutex.withLock { $0 } }

  /// Changes it; what it was before.
  @discardableResult func change(_ body: (inout Value) -> Void) -> Value {
    mutex.withLock { value in
      let before = value
      body(&value)
      return before
    }
  }
}
