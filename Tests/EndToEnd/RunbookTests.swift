import Glibc
import JSON
import Runtime
import Support
import Testing
import Time

/// The runbooks of keeping up with Apple, typed word for word against a simulated App Store.
@Suite struct `The runbooks` {
  private static let app = "com.example.kept"
  private static let stranger = "com.example.stranger"

  /// An App Store, the program told to ask it, and the service it sends to.
  private struct Site {
    let program: Program
    let world: JSONObject
    let worldPath: String

    /// What a shell needs to know before a runbook's own words: where Apple is, and whom to trust.
    var preamble: String {
      let (root, url) = ("'\(worldPath)/root.der'", world["productionURL"]?.string ?? "")
      return """
        switchyard() {
          case "$1 ${2:-}" in
            reconcile*|"quarantine replay") command switchyard "$@" --trust-root \(root) ;;
            api*) command switchyard "$@" --base-url \(url) --root \(root) --environment Sandbox ;;
            *) command switchyard "$@" ;;
          esac
        }

        """
    }

    func control(_ words: String...) async throws -> Program.Outcome {
      let outcome = try await Program().run(["simulate", "control", "--out", worldPath] + words)
      try #require(outcome.status == 0, "\(outcome)")
      return outcome
    }

    /// Types all steps of a runbook, with `values` in place of its examples.
    func type(_ name: String, _ values: [String: String]) async throws -> Program.Outcome {
      let runbook = try Runbook(name)
      #expect(runbook.headings == Runbook.headings)
      var script = preamble
      for (number, block) in runbook.blocks.enumerated() {
        script += block.commands + "\n"
        if number == 0 { script += values.map { "\($0)='\($1)'\n" }.joined() }
      }
      return try await program.shell(script)
    }
  }

  @Test func `find what was missed, explain a purchase and a refund, and empty quarantine`() async throws {
    let database = try await TestDatabase.migrated()
    var program = database.program
    program.environment["SWITCHYARD_DATA_DIR"] = "\(database.place.path)/data"
    let world = "\(database.place.path)/world"
    let now = WallClock.system.now()
    let simulator = try await start(in: database.place, asOf: now - .days(50), world)
    let result = await Result {
      let description = try #require(try JSONReader.read(Array(Program.text("\(world)/world.json").utf8)).object)
      program.environment["SWITCHYARD_APP_STORE_URL"] = description["productionURL"]?.string ?? ""
      let site = Site(program: program, world: description, worldPath: world)
      try await register(Self.app, site)
      let service = try await RunningProgram.serve(
        program, ["--trust-root", "\(world)/root.der", "--reconcile-every", "0", "--heartbeat-every", "0"])
      let typed = await Result { try await type(site, service, until: now) }
      await service.end(SIGTERM)
      try typed.get()
    }
    kill(simulator, SIGTERM)
    _ = await Program.ended(simulator)
    try result.get()
  }

  private func start(in place: TemporaryDirectory, asOf: Milliseconds, _ world: String) async throws -> pid_t {
    let program = Program()
    try program.write([], to: "\(place.path)/input")
    let id = try program.spawn(
      [
        "simulate", "--port", "0", "--seed", "5", "--customers", "12", "--history", "60", "--app", Self.app, "--app",
        Self.stranger, "--out", world, "--as-of", "\(asOf.sinceEpoch)",
      ], place.path)
    let isReady = await eventually(within: .seconds(60)) {
      Program.text("\(place.path)/output").contains(#""ready":true"#)
    }
    if !isReady {
      kill(id, SIGKILL)
      _ = await Program.ended(id)
    }
    try #require(isReady, "\(Program.text("\(place.path)/notes"))")
    return id
  }

  private func register(_ app: String, _ site: Site) async throws {
    let world = site.world
    let added = try await site.program.run(
      "app", "add", app, "--key-file", world["keyFile"]?.string ?? "", "--key-id", world["keyId"]?.string ?? "",
      "--issuer", world["issuerId"]?.string ?? "")
    try #require(added.status == 0, "\(added)")
  }

  private func type(_ site: Site, _ service: RunningProgram, until now: Milliseconds) async throws {
    for app in [Self.app, Self.stranger] {
      _ = try await site.control(
        "destination", "bundleId=\(app)", "environment=Sandbox", "url=\(service.url)/notifications", "version=2")
    }
    _ = try await site.control("fault", "fault=dropped", "on=notifications", "percent=40", "times=null")
    _ = try await site.control("advance", "to=\(now.sinceEpoch)")
    _ = try await site.control("mend")
    let truth = try await site.control("truth").objects
    let purchase = try #require(
      truth.last { line in
        let transaction = line["transaction"]?.object
        return line["app"]?.string == Self.app && transaction?["type"] == "Auto-Renewable Subscription"
          && transaction?["purchaseDate"]?.integer ?? 0 > (now - .days(40)).sinceEpoch
      })
    let id = try #require(purchase["transaction"]?.object?["originalTransactionId"]?.string)

    let lost = try await site.type("lost-first-purchase", ["APP": Self.app, "ID": id])
    #expect(lost.status == 0, "\(lost)")
    let missed = try await site.type("missed-notifications", ["APP": Self.app])
    #expect(missed.status == 0, "\(missed)")
    #expect(missed.output.contains("notifications") && missed.output.contains("RECOVERED"))
    let complaint = try await site.type(
      "refund-complaint",
      [
        "APP": Self.app, "ORDER_ID": try #require(purchase["orderId"]?.string),
        "KEY_FILE": site.world["keyFile"]?.string ?? "", "KEY_ID": site.world["keyId"]?.string ?? "",
        "ISSUER": site.world["issuerId"]?.string ?? "",
      ])
    #expect(complaint.status == 0, "\(complaint)")
    #expect(complaint.output.contains(id))

    // The other app was not registered: all of it waits.
    let waiting = try await site.program.run("quarantine", "list", "--json").objects
    #expect(waiting.contains { $0["code"] == "unknownApp" })
    try await register(Self.stranger, site)
    let quarantine = try await site.type("quarantine", [:])
    #expect(quarantine.status == 0, "\(quarantine)")
    #expect(try await site.program.run("quarantine", "list", "--json").objects.isEmpty)
  }
}

extension Result where Failure == any Error, Success: Sendable {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
