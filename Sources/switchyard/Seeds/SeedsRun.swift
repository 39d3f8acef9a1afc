import Adapter
import AppStore
import Database
import Intake
import JSON
import Ledger
import Runtime
import Seeding
import Service
import Signing
import Time

/// `switchyard seeds run`: performs a running service's lookups manually.
enum SeedsRun {
  static let command = Command(
    "run", "Ask Apple about every id that is due, and end.",
    discussion: """
      In parallel with a service it takes a share of the rate limit, and no id is asked about twice. Exit status 3 when ids \
      are left.
      """,
    whenStopped:
      "Received data is stored, and ids that were not asked about are due immediately. Run it again to continue.",
    examples: [Command.Example("switchyard seeds run")],
    options: [.retired("once"), JSONOutput.option]
      + MasterKeyOptions.options + TrustOptions.options + AppleClient.options
  ) { arguments, terminal in
    let options = try DatabaseOptions(arguments)
    let adapter = try TrustOptions(arguments).adapter
    let hosts = try AppleClient.hosts(arguments)
    return try await options.withDatabase(terminal) { configuration in
      let connection = try await Connection.open(configuration)
      try await options.prepare(connection)
      let hasSealed = try await connection.read { session throws(DatabaseError) in
        try CredentialTable.hasAny(in: session)
      }
      guard hasSealed else { throw NoAPIKey(bundleID: nil, reason: nil) }
      let keys = try await MasterKeyOptions(arguments, database: options).keys(for: connection, terminal)
      await connection.close()
      let pool = Pool(configuration)
      let asking = AppleClient(hosts, sharing: pool)
      let (asked, left) = try await run(asking, IngestDecider(adapter: adapter), keys, pool, terminal)
      await asking.end()
      await pool.close()
      if arguments.wantsJSON {
        let summary: JSONObject = ["customers": .integer(Int64(asked)), "idsLeft": .integer(Int64(left))]
        try terminal.write(summary.notingStop)
      } else {
        try terminal.write("\(asked) customers asked about, \(left) ids left\n")
      }
      return left == 0 ? .done : .doneWithRejects
    }
  }

  private static func run(
    _ asking: AppleClient, _ intake: IngestDecider, _ keys: Keyring, _ pool: Pool, _ terminal: Terminal
  ) async throws -> (asked: Int, left: Int) {
    let seeding = asking.seeding(intake, keys, LedgerStore(pool: pool, keys: keys), terminal)
    var (asked, last) = (0, 1)
    while last > 0, !Task.isCancelled {
      last = try await seeding.round()
      asked += last
    }
    let depths = try await pool.read { session throws(DatabaseError) in try HistoryJobTable.depths(in: session) }
    return (asked, depths.values.flatMap(\.values).reduce(0) { $0 + ($1[.waiting] ?? 0) })
  }
}
