package import LegacyAnswers
import Synchronization

/// The composers of all chosen readings, each made once.
package final class AnswerComposers: Sendable {
  private let made = Mutex<[[String]: ResponseComposer]>([:])
  private let rules: @Sendable ([String]) -> ComposerRules?
  /// The largest number of composers; apps choose among few readings, so no installation has more.
  private static let most = 64

  /// - Parameter rules: returns the rules with these readings, nil when one is unknown; by default this build's.
  package init(
    rules: @escaping @Sendable ([String]) -> ComposerRules? = { try? ComposerRules(choosing: $0) }
  ) { self.rules = rules }

  /// Returns `nil` if this build does not know a chosen row.
  func composer(choosing readings: [String]) -> ResponseComposer? {
    if let known = made.withLock({ $0[readings] }) { return known }
    guard let rules = rules(readings) else { return nil }
    let composer = ResponseComposer(rules)
    made.withLock { made in
      if made.count >= Self.most { made.removeAll() }
      made[readings] = composer
    }
    return composer
  }
}
