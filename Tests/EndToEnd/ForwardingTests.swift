import Database
import Glibc
import HTTPClient
import HTTPServer
import JSON
import Simulator
import Support
import Synchronization
import Testing
import Time

@Suite struct `A back end that hears only what is forwarded` {
  private static let kills = 3
  private static let customers = 6
  private static let perLife = 8

  @Test func `hears every message in order per customer, once by webhook-id, across kill -9`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, fixtures) = (database.program, try SignedFixtures())
    let root = fixtures.root(in: database.place)
    let back = BackEnd()
    let server = HTTPServer(HTTPServerConfiguration(port: 0), handler: back) { _ in }
    try server.start()
    #expect(try await program.run("app", "add", SignedFixtures.bundleID).status == 0)
    let named = try await program.run(
      "app", "legacy-url", SignedFixtures.bundleID, "http://127.0.0.1:\(server.port)/apple", "--environment", "Sandbox")
    #expect(named.status == 0, "\(named)")

    var random = SeededRandom()
    let client = HTTPClient()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      for life in 0...Self.kills {
        let running = try await RunningProgram.serve(program, ["--trust-root", root])
        let goal = Int.random(in: 1..<Self.customers * Self.perLife, using: &random)
        if life < Self.kills { back.kill(running.id, after: goal) }
        await withTaskGroup(of: Void.self) { senders in
          for customer in 0..<Self.customers {
            senders.addTask {
              for number in 0..<Self.perLife {
                let text = "\(customer)/\(life * Self.perLife + number)"
                guard let body = try? Self.body(text, fixtures) else { return }
                // As Apple does, but at once: what got no 200 is not followed by the next one, which stays unsent.
                let request = ClientRequest(method: "POST", url: running.url + "/notifications", body: body)
                guard let answer = try? await client.send(request), answer.status == 200 else { return }
                back.promise(body, text)
              }
            }
          }
        }
        if life < Self.kills {
          await running.end(SIGKILL)
          // The minute of its leases passes.
          try await database.execute("UPDATE outbox SET due_at = created_at WHERE state = 0")
        } else {
          let isHeard = await eventually(within: .seconds(100)) { back.missing.isEmpty }
          #expect(isHeard, "seed \(random.seed): \(back.missing.count) missing")
          #expect(await running.end(SIGTERM) == 0)
        }
      }
      group.cancelAll()
    }
    await client.shutdown()
    #expect(back.promised > Self.customers, "seed \(random.seed)")
    for (customer, numbers) in back.orders { #expect(numbers == numbers.sorted(), "\(customer), seed \(random.seed)") }
  }

  @Test func `hears every message once and in order from two processes that share one outbox`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, fixtures) = (database.program, try SignedFixtures())
    let root = fixtures.root(in: database.place)
    let back = BackEnd()
    let server = HTTPServer(HTTPServerConfiguration(port: 0), handler: back) { _ in }
    try server.start()
    _ = try await program.run("app", "add", SignedFixtures.bundleID)
    _ = try await program.run(
      "app", "legacy-url", SignedFixtures.bundleID, "http://127.0.0.1:\(server.port)/apple", "--environment", "Sandbox")
    let client = HTTPClient()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      let first = try await RunningProgram.serve(program, ["--trust-root", root])
      let second = try await RunningProgram.serve(program, ["--trust-root", root])
      await withTaskGroup(of: Void.self) { senders in
        for customer in 0..<Self.customers {
          senders.addTask {
            for number in 0..<Self.perLife {
              guard let body = try? Self.body("\(customer)/\(number)", fixtures) else { return }
              // Now by one, now by the other, as a load balancer does.
              let url = (number % 2 == 0 ? first : second).url + "/notifications"
              let answer = try? await client.send(ClientRequest(method: "POST", url: url, body: body))
              if answer?.status == 200 { back.promise(body, "\(customer)/\(number)") }
            }
          }
        }
      }
      #expect(back.promised == Self.customers * Self.perLife)
      let isHeard = await eventually(within: .seconds(60)) { back.missing.isEmpty }
      #expect(isHeard, "\(back.missing.count) missing")
      for running in [first, second] { #expect(await running.end(SIGTERM) == 0) }
      group.cancelAll()
    }
    await client.shutdown()
    #expect(back.repeats == 0)
    #expect(back.orders.count == Self.customers)
    for (customer, numbers) in back.orders { #expect(numbers == Array(0..<Self.perLife), "\(customer)") }
  }

  private static func body(_ text: String, _ fixtures: SignedFixtures) throws -> [UInt8] {
    let id = "20000000\(text.prefix { $0 != "/" })"
    var transaction = fixtures.transaction
    transaction["transactionId"] = .string(id)
    transaction["originalTransactionId"] = .string(id)
    var notification = try fixtures.notification(uuid: text)
    var data = notification["data"]?.object ?? [:]
    data["signedTransactionInfo"] = .string(try fixtures.jws(transaction))
    data["signedRenewalInfo"] = nil
    notification["data"] = .object(data)
    return try fixtures.body(notification)
  }

  @Test func `is set, moved and looked at from the command line`() async throws {
    let database = try await TestDatabase.migrated()
    let (program, app) = (database.program, SignedFixtures.bundleID)
    _ = try await program.run("app", "add", app)
    let refused = try await program.run("rollout", "set", app, "legacy", "--reason", "test")
    #expect(refused.status == 4 && refused.notes.contains("app legacy-url"), "\(refused)")
    let early = try await program.run("rollout", "set", app, "ramp", "--percent", "5", "--reason", "test")
    #expect(early.status == 4 && early.notes.contains("rollout advance"))
    #expect(try await program.run("rollout", "set", app, "record").status == 2)

    let url = "https://old.example.com/apple?key=s3cret"
    let dry = try await program.run("app", "legacy-url", app, url, "--environment", "sandbox", "--dry-run")
    #expect(dry.output == "would: forward to old.example.com\n")
    #expect(try await program.run("app", "legacy-url", app, url, "--environment", "sandbox").status == 0)
    #expect(try await program.run("app", "legacy-url", app, "ftp://x", "--environment", "sandbox").status == 2)
    for (url, isWarned) in [
      ("http://back.example.com/a", true), ("http://127.evil.example.com", true), ("http://10.0.0.1:80", true),
      ("https://back.example.com", false), ("http://127.0.0.1:1/a", false), ("http://localhost", false),
      ("http://[::1]:8080/a", false),
    ] {
      let named = try await program.run("app", "legacy-url", app, url, "--environment", "sandbox", "--dry-run")
      #expect(named.status == 0 && named.notes.contains("plain http") == isWarned, "\(url): \(named)")
    }
    let legacy = ["rollout", "set", app, "legacy", "--environment", "Sandbox", "--reason", "a day back"]
    #expect(try await program.run(legacy + ["--dry-run"]).output.hasPrefix("would: "))
    let set = try await program.run(legacy)
    #expect(set.status == 0 && set.notes.contains("gap"), "\(set)")
    let off = try await program.run("app", "legacy-url", app, "off", "--environment", "Sandbox")
    #expect(off.status == 4, "\(off)")
    let shown = try await program.run("rollout", "show", app, "--json").objects
    #expect(shown.map { $0["stage"] } == ["record", "legacy"])
    #expect(shown.last?["epoch"] == 2 && shown.last?["isForwarding"] == true)
    let history = try await program.run("rollout", "history", app)
    #expect(history.output.contains("Sandbox: record to legacy: a day back"))
    let audit = try await database.rows("SELECT reason FROM audit")
    #expect(try audit.allSatisfy { try !$0.text("reason").contains("s3cret") })

    let message = String(repeating: "ab", count: 32)
    try await database.execute(
      """
      INSERT INTO outbox (destination, message, state, created_at, due_at, expires_at)
      SELECT id, UNHEX(\(message)), 0, 1, 1, 1 FROM destinations
      """)
    #expect(try await program.run("outbox", "dead", "--all", "--dry-run").output == "would be: 1 given up\n")
    #expect(try await program.run("outbox", "dead", "abab").output == "1 given up\n")
    let listed = try #require(try await program.run("outbox", "list", "--json").objects.first)
    #expect(listed["state"] == "dead" && listed["digest"] == .string(message))
    #expect(try await program.run("outbox", "replay", "--all", "--app", app).output == "1 to be sent again\n")
    #expect(try await program.run("outbox", "show", "abab").output.contains("waiting"))
    #expect(try await program.run("outbox", "replay", "abab").status == 1)
    #expect(try await program.run("outbox", "replay").status == 2)
    for wrong in [
      ["--class", "forged"], ["--all", "--class", "proven"], ["abab", "--reason", "x"], ["--older-than", "-1"],
    ] {
      #expect(try await program.run(["outbox", "dead"] + wrong).status == 2, "\(wrong)")
    }
    try await database.execute(
      """
      INSERT INTO outbox (destination, message, state, created_at, due_at, expires_at, class, error)
      SELECT d.id, UNHEX(SHA2(CONCAT(c.class, e.error), 256)), 2, UNIX_TIMESTAMP() * 1000 - e.hours * 3600000, 1, 1, c.class,
        e.error
      FROM destinations d, (SELECT 1 AS class UNION SELECT 2 UNION SELECT 3) c,
        (SELECT 'answered 401' AS error, 2 AS hours UNION SELECT 'no answer: 100% lost', 30) e
      """)
    for (filter, count) in [
      (["--class", "unproven"], 2), (["--class", "proven"], 2), (["--reason", "Answered 4"], 3),
      (["--reason", "100%"], 3), (["--reason", "_"], 0), (["--older-than", "24"], 3), (["--newer-than", "24"], 3),
      (["--class", "claimed", "--reason", "401", "--newer-than", "3"], 1),
    ] {
      let dry = try await program.run(["outbox", "replay", "--dry-run"] + filter)
      #expect(dry.output == "would be: \(count) to be sent again\n", "\(filter): \(dry)")
      let rows = try await program.run(["outbox", "list", "--state", "dead", "--json"] + filter).objects
      #expect(rows.count == count, "\(filter)")
    }
    let some = try await program.run("outbox", "replay", "--class", "claimed", "--reason", "401", "--newer-than", "3")
    #expect(some.output == "1 to be sent again\n", "\(some)")
    let noted = try await database.rows("SELECT reason FROM audit WHERE action = 'outbox.replay' ORDER BY at DESC")
    #expect(try noted.contains { try $0.text("reason") == "class claimed, reason 401, newer than 3 h: 1 messages" })
    try await database.execute("DELETE FROM outbox WHERE error IS NOT NULL AND state = 2 OR class = 2")

    let sandbox = ["--environment", "Sandbox", "--reason", "again"]
    #expect(try await program.run(["rollout", "set", app, "record"] + sandbox).status == 0)
    let passing = try await program.run(["rollout", "set", app, "legacy"] + sandbox)
    #expect(passing.status == 4 && passing.notes.contains("outbox dead"), "\(passing)")
    let accepted = try await program.run(["rollout", "set", app, "legacy", "--pass-by"] + sandbox)
    #expect(accepted.status == 0 && accepted.notes.contains("pass them by"), "\(accepted)")
  }
}

/// The old back end: takes everything, remembers the first of each webhook-id, and kills the service in the middle.
private final class BackEnd: HTTPHandler {
  private struct State {
    var texts: [[UInt8]: String] = [:]
    var heard: [[UInt8]] = []
    var ids: Set<String> = []
    var repeats = 0
    var victim: pid_t = 0
    var left = -1
  }

  private let state = Mutex(State())

  func kill(_ id: pid_t, after count: Int) {
    state.withLock { state in
      state.victim = id
      state.left = count
    }
  }

  func promise(_ body: [UInt8], _ text: String) { state.withLock { $0.texts[body] = text } }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    state.withLock { state in
      if state.ids.insert(request.head.headers["webhook-id"] ?? "").inserted {
        state.heard.append(request.body)
      } else {
        state.repeats += 1
      }
      state.left -= 1
      if state.left == 0 { _ = Glibc.kill(state.victim, SIGKILL) }
    }
    return HTTPResponse(status: 200)
  }

  var repeats: Int { state.withLock { $0.repeats } }

  var promised: Int { state.withLock { $0.texts.count } }

  /// What was answered with 200 and is not heard yet.
  var missing: Set<String> {
    state.withLock { state in Set(state.texts.filter { !state.heard.contains($0.key) }.values) }
  }

  /// The numbers of each customer's messages as they were first heard.
  var orders: [String: [Int]] {
    state.withLock { state in
      state.heard.compactMap { state.texts[$0] }.reduce(into: [:]) { orders, text in
        let parts = text.split(separator: "/")
        orders[String(parts[0]), default: []].append(Int(parts[1]) ?? -1)
      }
    }
  }
}
