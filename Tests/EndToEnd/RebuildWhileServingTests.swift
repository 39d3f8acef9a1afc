import Database
import Glibc
import HTTPClient
import JSON
import Signing
import Simulator
import Support
import Synchronization
import Testing
import Time

@Suite struct `A rebuild beside a running service` {
  private static let messages = 400
  /// So many of them come out of quarantine, where they were put long ago.
  private static let replayed = 100

  @Test func `loses nothing of what arrives meanwhile, and is equal to what the messages say`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    let start = Milliseconds(1_770_000_000_000)
    let pki = try ApplePKI.generate(at: start)
    let app = SimulatedApp(name: "Busy", bundleID: "com.example.busy", appAppleID: 7_654_321)
    let trust = ["--trust-root", database.place.file("root.der", pki.root.certificate.der)]
    #expect(try await program.run("app", "add", app.bundleID, "--app-apple-id", "\(app.appAppleID)").status == 0)
    var stream = try NotificationStream(seed: 11, app: app, pki: pki, start: start)
    let bodies = try (0..<Self.messages).map { _ in try stream.next().body }

    for body in bodies.prefix(Self.replayed) {
      _ = try await database.quarantine(body, code: "unknownApp", receivedAt: start.sinceEpoch)
    }

    let running = try await RunningProgram.serve(program, trust)
    let client = HTTPClient()
    let stored = Mutex(0)
    let isSending = Mutex(true)
    async let rebuilds = rebuild(program, trust) { isSending.withLock { $0 } }
    async let replay = program.run(["quarantine", "replay", "--all"] + trust)
    await withDiscardingTaskGroup { group in
      for lane in 0..<4 {
        group.addTask { @Sendable in
          for (index, body) in bodies.dropFirst(Self.replayed).enumerated() where index % 4 == lane {
            let request = ClientRequest(method: "POST", url: running.url + "/notifications", body: body)
            // Apple, too, sends again what was answered 503.
            for _ in 0..<20 {
              guard let answer = try? await client.send(request), answer.status == 200 else { continue }
              stored.withLock { $0 += 1 }
              break
            }
          }
        }
      }
    }
    let replayed = try await replay
    isSending.withLock { $0 = false }
    let outcomes = try await rebuilds
    await client.shutdown()
    #expect(await running.end(SIGTERM) == 0, "\(running.notes)")

    #expect(outcomes.allSatisfy { $0.status == 0 }, "\(outcomes)")
    #expect(replayed.status == 0, "\(replayed)")
    #expect(stored.withLock { $0 } == Self.messages - Self.replayed, "\(running.notes)")
    let count = try #require(try await database.rows("SELECT COUNT(*) FROM inbox").first)
    #expect(try count.int(0) == Self.messages)
    let rehearsal = try await program.run(["db", "rebuild", "--dry-run"] + trust)
    #expect(rehearsal.status == 0, "\(rehearsal)")
  }

  /// One rebuild after the other, as long as messages come; at least one.
  private func rebuild(
    _ program: Program, _ trust: [String], while isGoingOn: @Sendable () -> Bool
  ) async throws -> [Program.Outcome] {
    var outcomes: [Program.Outcome] = []
    repeat { outcomes.append(try await program.run(["db", "rebuild"] + trust)) } while isGoingOn()
    return outcomes
  }
}
