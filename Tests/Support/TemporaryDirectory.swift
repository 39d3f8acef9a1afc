import Database
import Glibc
import Synchronization

/// A fresh directory for one test; gone with the last reference.
package final class TemporaryDirectory: Sendable {
  private static let number = Atomic<Int>(0)

  package let path: String

  /// - Parameter suffix: added to the name, for tests that need a long path.
  package init(suffix: String = "") {
    let number = Self.number.add(1, ordering: .relaxed).newValue
    path = TestPlace.path("-\(number)\(suffix)")
    Files.remove(path)
    unsafe mkdir(path, 0o755)
  }

  deinit { Files.remove(path) }
}
