package import LegacyAnswers
import Synchronization

/// A composer for each choice of readings, made once.
package final class AnswerComposers: Sendable {
  private let made = Mutex<[[String]: ResponseComposer]>([:])
  private let rules: @Sendable ([String]) -> ComposerRules?
  /// Apps choose among few rows: no installation has more choices than that at once.
  private static let most = 64

  /// - Parameter rules: the rules with these readings, nil when one is unknown; this build's unless others are to be tried.
  package init(
    rules: @escaping @Sendable ([String]) -> ComposerRules? = { try? ComposerRules(choosing: $0) }
  ) { self.rules = rules }

  /// Nil when this build does not know a row that was chosen.
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
