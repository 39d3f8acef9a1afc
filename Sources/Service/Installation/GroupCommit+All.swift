import Ledger

extension GroupCommit {
  /// What became of each, in their order, once they are committed.
  func append(all entries: [LedgerEntry]) async throws -> [AppendResult] {
    try await withThrowingTaskGroup(of: (Int, AppendResult).self) { group in
      for (place, entry) in entries.enumerated() {
        group.addTask {
          do throws(Failure) {
            // In a line of its own: optimised, Swift 6.3 loses the place when the tuple is made around the call.
            let appended = try await self.append(entry)
            return (place, appended)
          } catch .stageChanged {
            return (place, .stageChanged)
          }
        }
      }
      var appended = [AppendResult](repeating: .stageChanged, count: entries.count)
      for try await (place, one) in group { appended[place] = one }
      return appended
    }
  }
}
