import Database
import Glibc
import HTTPClient
import JSON
import Ledger
import Signing
import Simulator
import Support
import Synchronization
import Testing
import Time

@Suite struct `A service that is killed` {
  /// Kills, and messages for each life of the service.
  private static let kills = 20
  private static let perLife = 150

  @Test func `loses no message it has acknowledged, wherever kill -9 hits it`() async throws {
    let configuration = try await PrivateMariaDB.shared.database()
    guard case .socket(let socket) = configuration.address, let name = configuration.database else {
      Issue.record("the tests' database is on a socket")
      return
    }
    let place = TemporaryDirectory()
    let start = Milliseconds(1_770_000_000_000)
    let pki = try ApplePKI.generate(at: start)
    let app = SimulatedApp(name: "Load", bundleID: "com.example.load", appAppleID: 1_234_567)
    let root = place.file("root.der", pki.root.certificate.der)
    var program = Program()
    program.options = ["--data-dir", place.path]
    program.environment = ["SWITCHYARD_DATABASE": "mysql://\(configuration.user)@localhost/\(name)?socket=\(socket)"]
    #expect(try await program.run("db", "migrate").status == 0)
    #expect(try await program.run("app", "add", app.bundleID, "--app-apple-id", "\(app.appAppleID)").status == 0)

    var stream = try NotificationStream(seed: 7, app: app, pki: pki, start: start)
    var random = SeededRandom()
    let acknowledged = Acknowledged()
    let client = HTTPClient()
    for _ in 0..<Self.kills {
      let running = try await RunningProgram.serve(program, ["--trust-root", root])
      let messages = try (0..<Self.perLife).map { _ in try stream.next() }
      let goal = Int.random(in: 1..<Self.perLife, using: &random)
      acknowledged.begin(killing: running.id, after: goal)
      await withTaskGroup(of: Void.self) { group in
        for lane in 0..<8 {
          let share = messages.enumerated().filter { $0.offset % 8 == lane }.map(\.element)
          group.addTask {
            for message in share {
              let request = ClientRequest(method: "POST", url: running.url + "/notifications", body: message.body)
              if let answer = try? await client.send(request), answer.status == 200 {
                acknowledged.note(message.signedPayload)
              }
            }
          }
        }
      }
      await running.end(SIGKILL)
    }
    await client.shutdown()

    let connection = try await Connection.open(configuration)
    let stored = try await connection.read { session throws(DatabaseError) in
      var stored: Set<Digest> = []
      for row in try session.query("SELECT digest FROM inbox") {
        if let digest = Digest(bytes: try row.bytes(0)) { stored.insert(digest) }
      }
      return stored
    }
    await connection.close()
    let promised = acknowledged.all
    #expect(promised.count > Self.kills, "seed \(random.seed)")
    #expect(promised.subtracting(stored).isEmpty, "seed \(random.seed)")

    // What is derived is as complete as what was received: a rebuild gives the same.
    let before = try await program.run("db", "dump", "--canonical")
    #expect(try await program.run("db", "rebuild", "--trust-root", root).status == 0)
    let after = try await program.run("db", "dump", "--canonical")
    #expect(before.output == after.output && !before.output.isEmpty)
  }
}

/// The messages that were answered with 200, by digest; kills the service in the middle of what is being sent.
private final class Acknowledged: Sendable {
  private struct State {
    var digests: Set<Digest> = []
    var victim: pid_t = 0
    var left = 0
  }

  private let state = Mutex(State())

  func begin(killing id: pid_t, after count: Int) {
    state.withLock { state in
      state.victim = id
      state.left = count
    }
  }

  func note(_ signedPayload: [UInt8]) {
    state.withLock { state in
      // A message is known by its lower signature, whichever comes.
      let isHigh = FlippedSignatures.isHigh(signedPayload)
      state.digests.insert(.sha256(isHigh ? FlippedSignatures.flipped(signedPayload) : signedPayload))
      state.left -= 1
      if state.left == 0 { kill(state.victim, SIGKILL) }
    }
  }

  var all: Set<Digest> { state.withLock { $0.digests } }
}
