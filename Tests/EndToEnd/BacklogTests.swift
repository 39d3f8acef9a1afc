import Database
import Glibc
import HTTPServer
import Ledger
import Purchases
import Runtime
import Support
import Synchronization
import Testing
import Time

/// An outage ends while thousands wait, beside a back end that hangs, and the service is killed while it catches up.
@Suite struct `A backlog of messages` {
  /// Of a test; `scripts/soak` asks for more.
  private static let waiting = Program.setting("SWITCHYARD_SOAK_WAITING") ?? 5_000
  private static let customers = Program.setting("SWITCHYARD_SOAK_WAITING_CUSTOMERS") ?? 1_000
  private static let app = "com.example.backlog"

  @Test func `is heard in order per customer, whatever another back end does, across kill -9`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, back) = (database.program, ListeningBackEnd())
    let server = HTTPServer(HTTPServerConfiguration(port: 0), handler: back) { _ in }
    try server.start()
    #expect(try await program.run("app", "add", Self.app).status == 0)
    let hanging = try SilentListener()
    for (environment, port) in [("Sandbox", server.port), ("Production", hanging.port)] {
      let named = try await program.run(
        "app", "legacy-url", Self.app, "http://127.0.0.1:\(port)/apple", "--environment", environment)
      #expect(named.status == 0, "\(named)")
    }
    try await Self.fill(database, .sandbox, Self.waiting, customers: Self.customers)
    try await Self.fill(database, .production, Self.waiting / 10, customers: Self.customers / 10)

    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      let first = try await RunningProgram.serve(program, [])
      let isUnderWay = await eventually(within: .seconds(120)) { back.heard > Self.waiting / 3 }
      #expect(isUnderWay, "\(back.heard) heard")
      await first.end(SIGKILL)
      let heardBefore = back.heard
      #expect(heardBefore < Self.waiting, "killed too late")
      // The minute of its leases passes.
      try await database.execute("UPDATE outbox SET due_at = created_at WHERE state = 0")
      let second = try await RunningProgram.serve(program, [])
      let start = ContinuousClock.now
      let isHeard = await eventually(within: .seconds(Int64(60 + Self.waiting / 100))) { back.heard == Self.waiting }
      let took = (ContinuousClock.now - start) / .seconds(1)
      #expect(isHeard, "\(back.heard) of \(Self.waiting) heard")
      print("a backlog of \(Self.waiting): \(Int(Double(Self.waiting - heardBefore) / took)) messages a second")
      #expect(await second.end(SIGTERM) == 0)
      group.cancelAll()
    }
    #expect(back.disorder == [], "in order per customer")
    // What was on its way when the service was killed, and what it had not noted yet.
    #expect(back.repeats < 1_000)
    let left = try await database.rows(
      """
      SELECT COUNT(*) AS waiting FROM outbox o JOIN destinations d ON d.id = o.destination
      WHERE o.state = 0 AND d.url LIKE \("%:\(hanging.port)/%")
      """)
    #expect(try left.first?.int("waiting") == Self.waiting / 10, "the one that hangs has taken nothing")
    hanging.close()
  }

  /// Puts messages into the outbox as the service does: of each customer in turn.
  private static func fill(
    _ database: TestDatabase, _ environment: Environment, _ count: Int, customers: Int
  ) async throws {
    let pool = Pool(database.configuration)
    let (ledger, now) = (Ledger(pool: pool), WallClock.system.now())
    let found = try await pool.read { session throws(DatabaseError) in try AppTable.find(app, in: session) }
    let known = try #require(found)
    let scope = Scope(app: known.id, environment: environment)
    for start in stride(from: 0, to: count, by: 500) {
      let entries = (start..<min(start + 500, count)).map { number in
        let (customer, place) = (number % customers, number / customers)
        let message = InboxMessage(
          kind: .notification, body: Array("\(environment.rawValue) \(customer)/\(place)".utf8), receivedAt: now)
        var findings = Findings(app: app, environment: environment)
        findings.links = [
          CustomerLink(
            app: app, environment: environment, .originalTransactionID("\(customer)"),
            .appTransactionID("7\(customer)"))
        ]
        return Entry(
          message,
          .accepted(
            Entry.Acceptance(message, app: known.id, findings: findings, signedAt: now, title: "backlog")),
          addressee: .init(scope, epoch: nil, at: now, proof: .proven))
      }
      #expect(try await ledger.append(entries).allSatisfy { $0 == .stored })
    }
    await pool.close()
  }
}

/// Takes everything, and notes which messages of a customer came before an earlier one.
private final class ListeningBackEnd: HTTPHandler {
  private struct State {
    var ids: Set<String> = []
    var next: [String: Int] = [:]
    var heard = 0
    var repeats = 0
    var disorder: [String] = []
  }

  private let state = Mutex(State())

  var heard: Int { state.withLock { $0.heard } }
  var repeats: Int { state.withLock { $0.repeats } }
  var disorder: [String] { state.withLock { Array($0.disorder.prefix(5)) } }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let text = String(decoding: request.body, as: UTF8.self)
    let parts = text.split(separator: "/").map(String.init)
    state.withLock { state in
      guard state.ids.insert(request.head.headers["webhook-id"] ?? "").inserted else {
        state.repeats += 1
        return
      }
      state.heard += 1
      if state.next[parts[0], default: 0] != Int(parts[1]) { state.disorder.append(text) }
      state.next[parts[0], default: 0] += 1
    }
    return HTTPResponse(status: 200)
  }
}

/// A port that takes connections and never answers.
struct SilentListener {
  let port: UInt16
  private let descriptor: Int32

  init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        guard unsafe bind(descriptor, $0, size) == 0, listen(descriptor, 128) == 0 else { return Int32(-1) }
        return unsafe getsockname(descriptor, $0, &size)
      }
    }
    guard status == 0 else { throw DatabaseError(.misuse, "no port") }
    self.descriptor = descriptor
    port = UInt16(bigEndian: address.sin_port)
  }

  func close() { _ = Glibc.close(descriptor) }
}
