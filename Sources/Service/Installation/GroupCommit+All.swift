import Ledger

extension GroupCommit {
  func append(all entries: [LedgerEntry]) async throws -> [AppendResult] {
    try await withThrowingTaskGroup(of: (Int, AppendResult).self) { group in
      for (place, entry) in entries.enumerated() {
        group.addTask {
          do throws(Failure) {
            // On a separate line: optimized Swift 6.3 loses the value if the tuple is made around the call.
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
