import Database
import Glibc
import JSON
import Runtime
import Support
import Testing
import Time

/// runbooks/rollback.md, typed word for word, about an app in `ramp 25` of which some customers would have had other access.
@Suite struct `The runbook of a rollback` {
  private static let app = "com.example.moved"

  private func database() async throws -> TestDatabase {
    let database = try await TestDatabase.migrated()
    #expect(try await database.program.run("app", "add", Self.app).status == 0)
    let set = try await database.program.run(
      "rollout", "set", Self.app, "ramp", "--percent", "25", "--environment", "Production", "--force", "--reason",
      "test")
    #expect(set.status == 0, "\(set)")
    let now = WallClock.system.now()
    try await database.addComparisons(120, affected: 3)
    // In one step of five minutes: 98 answers of Apple's within 100 ms, 2 within 700 ms, 3 calls without one; none of ours.
    let start = now.sinceEpoch / 300_000 * 300_000
    try await database.execute(
      """
      INSERT INTO answer_times (app, environment, hour_start, side, at_most, calls)
      SELECT id, 1, \(start), 1, 100, 98 FROM apps UNION ALL SELECT id, 1, \(start), 1, 700, 2 FROM apps
      UNION ALL SELECT id, 1, \(start), 1, 0, 3 FROM apps
      """)
    return database
  }

  @Test func `finds the app, takes its answers back, and shows why`() async throws {
    let database = try await database()
    try await expectFigures(database.program)
    // Apple has sent nothing in Production.
    let world = ["--customers", "1", "--history", "1", "--app", Self.app]
    try await RunningSimulator.with(world, in: database.place) { apple in
      var program = database.program
      program.environment["SWITCHYARD_DATA_DIR"] = "\(database.place.path)/data"
      program.environment.merge(apple.environment) { $1 }
      let added = try await program.run(["app", "add", Self.app] + apple.key)
      try #require(added.status == 0, "\(added)")
      let values = ["APP": Self.app, "ENVIRONMENT": "Production"]
      let texts = try await Runbook("rollback").type(values, program, in: database.place.path)
      #expect(texts[0].contains(Self.app) && texts[0].contains("Sandbox"), "\(texts[0])")
      #expect(texts[1].contains("ramp 25 %") && texts[1].contains("breached"), "\(texts[1])")
      #expect(texts[1].contains("APPLE P50/P99") && texts[1].contains("100/700"), "\(texts[1])")
      #expect(texts[2].contains("ramp 25 % to shadow"), "\(texts[2])")
      #expect(!texts[3].contains("ramp"), "\(texts[3])")
      #expect(texts[4].contains("TO TAKE IN") && texts[4].contains("Production"), "\(texts[4])")
      #expect(texts[5].contains("ourDefect") && texts[5].contains("complaints"), "\(texts[5])")
      #expect(texts[6].contains(#""stage":"shadow""#), "\(texts[6])")
    }
  }

  private func expectFigures(_ program: Program) async throws {
    let seen = try await program.run("rollout", "status", Self.app, "--json").objects
    let production = try #require(seen.first { $0["environment"] == "Production" })
    #expect(production["stage"] == "ramp" && production["percent"] == 25)
    #expect(production["customers"] == 120 && production["affected"] == 3 && production["guard"] == "breached")
    let apple = try #require(production["apple"]?.object)
    #expect(apple["answers"] == 100 && apple["errors"] == 3 && apple["p50Milliseconds"] == 100)
    #expect(apple["p99Milliseconds"] == 700 && production["ours"]?.object?["p50Milliseconds"] == .null)
    #expect(production["next_steps"]?.array?.first?.string?.hasPrefix("switchyard compare list") == true)
  }

  @Test(arguments: [true, false])
  func `can be watched, a line with its time for each app that changes`(json: Bool) async throws {
    let database = try await database()
    let words = ["rollout", "watch", Self.app] + (json ? ["--json"] : [])
    let start = WallClock.system.now().iso8601.prefix(19)
    let watched = try await StoppedProgram.run(database.program, words, SIGINT) {
      Program.text("\($0)/output").split(separator: "\n").count >= 2
    }
    let end = WallClock.system.now().iso8601.prefix(19)
    watched.expectOrderlyStop(saying: "Nothing was changed.")
    let times: [String]
    if json {
      #expect(try watched.objects.map { $0["stage"] } == ["ramp", "record"], "\(watched.output)")
      times = try watched.objects.compactMap { $0["time"]?.string }
    } else {
      let lines = watched.output.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1).map(String.init) }
      #expect(lines.compactMap(\.last).allSatisfy { $0.hasPrefix("\(Self.app) ") }, "\(watched.output)")
      times = lines.compactMap(\.first)
    }
    // `2026-11-21T00:45:48Z`: as texts in the order of time.
    #expect(times.count == 2, "\(watched.output)")
    for time in times {
      #expect(time.count == 20 && time.hasSuffix("Z") && (start...end).contains(time.prefix(19)), "\(time)")
    }
  }
}
