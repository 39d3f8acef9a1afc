/// A simulated App Store, a ledger with its apps and keys, and the program between the two.
struct MigrateSite {
  static let app = "com.example.moved"

  let apple: RunningSimulator
  let database: TestDatabase
  var program: Program
  let apps: [String]

  /// Of what the simulator signs.
  var roots: [String] {
    [
      "--trust-root", apple.root, "--trust-root", "\(apple.directory)/receipt-root.der", "--trust-root", "Sandbox",
      "--trust-root", "Production", "--i-know-this-root-can-make-purchases-count",
    ]
  }

  var receipts: [String] { Program.text("\(apple.directory)/receipts.csv").split(separator: "\n").map(String.init) }

  static func with(
    customers: Int = 12, apps: [String] = [app], canBeKilled: Bool = false,
    _ body: (MigrateSite) async throws -> Void
  ) async throws {
    let database = try await TestDatabase.migrated()
    let names = apps.flatMap { ["--app", $0] } + (canBeKilled ? ["--keep"] : [])
    try await RunningSimulator.with(
      ["--seed", "5", "--customers", "\(customers)", "--history", "200"] + names, in: database.place,
      isProcess: canBeKilled
    ) { apple in
      try await body(site(apple, database, apps))
    }
  }

  private static func site(
    _ apple: RunningSimulator, _ database: TestDatabase, _ apps: [String]
  ) async throws -> MigrateSite {
    var program = database.program
    program.environment.merge(apple.environment) { $1 }
    for app in apps {
      let added = try await program.run(["app", "add", app] + apple.key)
      try #require(added.status == 0, "\(added)")
    }
    return MigrateSite(apple: apple, database: database, program: program, apps: apps)
  }

  /// The same world, and nothing known of it yet.
  func withAnotherLedger() async throws -> MigrateSite {
    try await Self.site(apple, TestDatabase.migrated(), apps)
  }

  /// - Parameter isProcess: whether the service is a process, which can be killed.
  func serve(isProcess: Bool = false) async throws -> RunningProgram {
    let words = roots + ["--reconcile-every", "0", "--heartbeat-every", "0", "--log-level", "warning"]
    return isProcess
      ? try await RunningProgram.serve(program, words) : try await RunningProgram.inProcess(program, words)
  }

  func status(_ job: Int64) async throws -> JSONObject {
    let outcome = try await program.run("migrate", "status", "\(job)", "--json")
    return try #require(try outcome.objects.first, "\(outcome)")
  }

  func accounts(_ job: Int64) async throws -> [String: Int64] {
    let accounts = try await status(job)["accounts"]?.object ?? [:]
    return accounts.members.reduce(into: [:]) { counts, member in counts[member.key] = member.value.integer }
  }

  func start(_ arguments: String...) async throws -> Int64 { try await start(arguments) }

  func start(_ arguments: [String]) async throws -> Int64 {
    let outcome = try await program.run(["migrate", "start"] + arguments + ["--yes", "--json"])
    try #require(outcome.status == 0, "\(outcome)")
    return try #require(try outcome.objects.first?["job"]?.integer, "\(outcome)")
  }

  /// The status when the job has ended.
  func ended(_ job: Int64, within limit: Interval = .seconds(180)) async throws -> JSONObject {
    var status: JSONObject = [:]
    _ = try await eventually(within: limit) {
      status = try await self.status(job)
      return status["state"] != "running"
    }
    return status
  }

  /// Whether rows and ids balance.
  static func balances(_ status: JSONObject) -> Bool {
    let accounts = status["accounts"]?.object ?? [:]
    func count(_ key: String) -> Int64 { accounts[key]?.integer ?? -1 }
    let rejected = accounts["rejected"]?.object?.members.reduce(0) { $0 + ($1.value.integer ?? 0) } ?? -1
    return count("in") == count("usable") + count("duplicates") + count("withoutPurchases") + rejected
      && count("ids") == count("settled") + count("unknown") + count("failed") + count("open")
      && count("open") >= 0
  }
}
