/// Moves each app by `rollout set --force` when its time has come, and kills a process at its moves.
struct HandMover: StageMover {
  /// When each move is made, in percent of the time.
  private static let moves: [(at: Int, words: [String])] = [
    (8, ["record"]), (26, ["shadow"]), (36, ["ramp", "--percent", "10"]), (46, ["ramp", "--percent", "50"]),
    (56, ["live"]), (66, ["shadow"]), (70, ["live"]), (80, ["complete"]),
  ]

  var calendar = SwitchedCalendar()
  var arrival = Interval.days(365)
  /// Whether each move of each app has a kill; otherwise the moves of one app at a time have one.
  var killsForEach = true
  var asksAgain = false
  let story: [String] = []
  let complaints: [String] = []
  private(set) var stages: [String: String] = [:]

  var step: Interval { calendar.step }

  mutating func move(_ site: SwitchedSite, at moment: SwitchedMoment) async throws {
    var commands: [[String]] = []
    for (number, app) in site.apps.enumerated() {
      // One app after the other, the smallest first.
      for (index, (at, words)) in Self.moves.enumerated() where moment.isAt(at, after: number) {
        if killsForEach || index % site.apps.count == number {
          site.workers.killOne(after: 2 + number, for: Strike(app: app.app.bundleID, stage: words[0]))
        }
        let options = ["--environment", "Production", "--force", "--pass-by", "--reason", "by hand"]
        commands.append(["rollout", "set", app.app.bundleID] + options + words)
        stages[app.app.bundleID] = words[0]
        site.workers.note(words[0], of: app.app.bundleID)
      }
    }
    try await site.runAll(commands)
  }
}
