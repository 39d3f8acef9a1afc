@testable import BulkMigration
@testable import Ledger

@Suite struct `How many ids a migration has asked about at once` {
  private func state(callsPerSecond: Int? = nil) -> WorkerState {
    var settings = MigrationSettings()
    settings.callsPerSecond = callsPerSecond
    return WorkerState(
      MigrationJob(
        id: 1, state: .running, createdAt: Timestamp(0), createdBy: "test", finishedAt: nil, app: nil,
        environment: nil, settings: settings, trouble: nil))
  }

  private func note(_ ended: Int, second: Int64, _ state: WorkerState) {
    var turn = HistoryJobScheduler.Turn()
    turn.ended = ended
    state.note(turn, at: .seconds(second))
  }

  @Test func `follows the rate up at once and down slowly, within bounds`() {
    let state = state()
    #expect(state.backlog == 512)
    note(0, second: 1, state)
    note(1_000, second: 2, state)
    #expect(state.backlog == 3_000)
    note(0, second: 3, state)
    #expect(state.backlog == 2_700)
    note(1_000_000, second: 4, state)
    #expect(state.backlog == 4_096)
    for second in 5...100 { note(0, second: Int64(second), state) }
    #expect(state.backlog == 512)
  }

  @Test func `is ten seconds of what may be asked where that is less`() {
    let state = state(callsPerSecond: 5)
    note(0, second: 1, state)
    note(2_000, second: 2, state)
    #expect(state.backlog == 50)
  }
}
