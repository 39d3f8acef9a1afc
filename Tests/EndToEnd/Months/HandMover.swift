import Simulator
import Time

/// Moves each app by `rollout set --force` when its time has come, and kills a process at every move.
struct HandMover: StageMover {
  /// When each move is made, in hundredths of the time.
  private static let moves: [(at: Int, words: [String])] = [
    (8, ["record"]), (26, ["shadow"]), (36, ["ramp", "--percent", "10"]), (46, ["ramp", "--percent", "50"]),
    (56, ["live"]), (66, ["shadow"]), (70, ["live"]), (80, ["complete"]),
  ]

  let step = SwitchedMoment.step
  let story: [String] = []
  let complaints: [String] = []
  private(set) var stages: [String: String] = [:]

  mutating func move(_ site: SwitchedSite, at moment: SwitchedMoment) async throws {
    for (number, app) in site.apps.enumerated() {
      // One app after the other, the smallest first.
      for (at, words) in Self.moves where moment.isAt(at, behind: 2 * number) {
        site.workers.killOne(after: 2 + number, for: Strike(app: app.app.bundleID, stage: words[0]))
        try await site.run(
          [
            "rollout", "set", app.app.bundleID, "--environment", "Production", "--force", "--pass-by", "--reason",
            "by hand",
          ] + words)
        stages[app.app.bundleID] = words[0]
        site.workers.note(words[0], of: app.app.bundleID)
      }
    }
  }
}
