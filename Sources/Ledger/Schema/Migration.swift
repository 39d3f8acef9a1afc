import Database

/// One step of the schema; forward only.
///
/// Every statement can run twice, since DDL commits on its own: a migration that was cut off is simply run again. A
/// binary of version N works on schema N + 1, so that nodes can be upgraded one by one: a step may add, never take away
/// what the binary before it reads.
package struct Migration: Sendable {
  package let version: Int
  /// What it brings, in an operator's words.
  package let title: String
  let statements: [SQL]

  /// Every step so far, in order.
  package static let all: [Migration] = [first, second, third]

  /// The schema this binary was built for.
  package static var newest: Int { all.last?.version ?? 0 }
}
