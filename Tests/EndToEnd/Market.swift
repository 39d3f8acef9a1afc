import Glibc
import JSON
import Runtime
import Support
import Testing
import Time

/// An App Store in a process of its own, whose notifications of the last 45 days nobody took.
struct Market {
  let world: JSONObject
  private let directory: String

  var url: String { world["productionURL"]?.string ?? "" }
  var root: String { "\(directory)/root.der" }
  /// Where `reconcile` finds it, and whose signatures count.
  var trust: [String] { ["--base-url", url, "--trust-root", root] }

  /// - Parameter customers: of all apps together; 30 of each unless told.
  static func with(
    _ apps: [String], customers: Int? = nil, _ body: (Market) async throws -> Void
  ) async throws {
    let (place, program) = (TemporaryDirectory(), Program())
    try program.write([], to: "\(place.path)/input")
    let (now, directory) = (WallClock.system.now(), "\(place.path)/world")
    let id = try program.spawn(
      [
        "simulate", "--port", "0", "--seed", "5", "--customers", "\(customers ?? 30 * apps.count)", "--history", "60",
        "--out",
        directory, "--as-of", "\((now - .days(45)).sinceEpoch)",
      ] + apps.flatMap { ["--app", $0] }, place.path)
    var failure: (any Error)?
    do {
      let isReady = await eventually(within: .seconds(60)) {
        Program.text("\(place.path)/output").contains(#""ready":true"#)
      }
      try #require(isReady, "\(Program.text("\(place.path)/notes"))")
      let world = try JSONReader.read(Array(Program.text("\(directory)/world.json").utf8)).object
      let market = Market(world: try #require(world), directory: directory)
      for app in apps {
        // Nobody listens there.
        try await market.control(
          "destination", "bundleId=\(app)", "environment=Sandbox", "url=http://127.0.0.1:1/none", "version=2")
      }
      try await market.control("advance", "to=\(now.sinceEpoch)")
      try await body(market)
    } catch { failure = error }
    kill(id, SIGTERM)
    _ = await Program.ended(id)
    if let failure { throw failure }
  }

  @discardableResult
  func control(_ words: String...) async throws -> Program.Outcome {
    let outcome = try await Program().run(["simulate", "control", "--out", directory] + words)
    try #require(outcome.status == 0, "\(outcome)")
    return outcome
  }

  /// How many calls a fault that is in force has met.
  func matched() async throws -> Int64 {
    let faults = try await control("faults").objects.first?["faults"]?.array ?? []
    return faults.compactMap { $0.object?["matched"]?.integer }.reduce(0, +)
  }

  func register(_ app: String, _ program: Program, hasKey: Bool = true) async throws {
    let key = [
      "--key-file", world["keyFile"]?.string ?? "", "--key-id", world["keyId"]?.string ?? "", "--issuer",
      world["issuerId"]?.string ?? "",
    ]
    let added = try await program.run(["app", "add", app] + (hasKey ? key : []))
    try #require(added.status == 0, "\(added)")
  }
}
