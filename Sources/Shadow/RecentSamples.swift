import Ledger
import Synchronization

/// The voices that this process heard last, so that nobody composes an answer to hear that it was composed before.
///
/// Twice as many as fit at most; which voices were heard at all is in the ledger.
final class RecentSamples: Sendable {
  private let state: Mutex<(newer: Set<ComparisonTable.SampleKey>, older: Set<ComparisonTable.SampleKey>)> = Mutex(
    ([], []))
  private let most: Int

  init(atMost most: Int) { self.most = max(1, most / 2) }

  func contains(_ voice: ComparisonTable.SampleKey) -> Bool {
    state.withLock { $0.newer.contains(voice) || $0.older.contains(voice) }
  }

  func insert(_ voice: ComparisonTable.SampleKey) {
    state.withLock { state in
      if state.newer.count >= most { (state.older, state.newer) = (state.newer, []) }
      state.newer.insert(voice)
    }
  }
}
