import Database
import Glibc
import HTTPClient
import JSON
import Purchases
import Runtime
import Signing
import Simulator
import Support
import Synchronization
import Testing
import Time
import Truth

/// The lives of a world's customers told by both generations to a service that is killed again and again.
@Suite struct `A story told to a service that is killed` {
  /// Of a test; `scripts/soak` asks for more.
  private static let kills = Program.setting("SWITCHYARD_SOAK_KILLS") ?? 3
  private static let customers = Program.setting("SWITCHYARD_SOAK_CUSTOMERS") ?? 5

  @Test func `ends in the truth, as if nothing had happened`() async throws {
    var random = SeededRandom()
    let seed = random.seed
    let story = try MixedStory(
      customers: Self.customers, days: 100, seed: seed, telling: .both, start: WallClock.system.now() - .days(101))
    let undisturbed = try await Self.tell(story, story.messages, kills: 0)
    let messages = (story.messages + story.messages.filter { _ in Bool.random(using: &random) })
      .shuffled(using: &random)
    let killed = try await Self.tell(story, messages, kills: Self.kills)
    #expect(killed.differences == [], "seed \(seed)")
    #expect(undisturbed.differences == [], "seed \(seed)")
    // However little a world of this seed has to tell, it is more than nothing.
    #expect(undisturbed.dump.count > 5 * Self.customers)
    let changes = killed.dump.difference(from: undisturbed.dump)
    #expect(changes.isEmpty, "seed \(seed): \(changes)")
  }

  /// What the ledger knows other than it is, and the dump; user ids are dated by the clock, and left out.
  private static func tell(
    _ story: MixedStory, _ messages: [MixedStory.Message], kills: Int
  ) async throws -> (differences: [TruthComparison.Difference], dump: [String]) {
    let database = try await TestDatabase.migrated()
    let (program, place) = (database.program, database.place)
    #expect(try await program.run("app", "add", MixedStory.app).status == 0)
    let secret = place.file("secret", Array(AppPlan.sample(MixedStory.app).sharedSecret.utf8))
    #expect(try await program.run("app", "secret", MixedStory.app, "--file", secret).status == 0)
    let token = String(try await program.run("app", "token", MixedStory.app, "--label", "story").output.dropLast())
    let root = place.file("root.der", story.pki.root.certificate.der)
    let client = HTTPClient()
    var left = messages
    for life in 0...kills {
      let running = try await RunningProgram.serve(program, ["--trust-root", root])
      let goal = life < kills ? max(1, left.count / (kills + 1)) : Int.max
      left = await post(left, to: running, token, client, killingAfter: goal)
      await running.end(life < kills ? SIGKILL : SIGTERM)
    }
    await client.shutdown()
    #expect(left.isEmpty, "\(left.count) messages were not taken")
    let pool = Pool(database.configuration)
    let known = try await KnownPurchases(of: MixedStory.app, in: .sandbox, pool)
    await pool.close()
    let dump = try await program.run("db", "dump", "--canonical").output.split(separator: "\n").map(String.init)
    let compared = known.compared(with: story.truth(), at: story.world.now)
    return (compared.differences, dump.filter { !$0.hasPrefix(#"{"userID""#) && !$0.hasPrefix(#"{"waitingUserID""#) })
  }

  /// Posts over eight connections; what was not acknowledged comes again.
  private static func post(
    _ messages: [MixedStory.Message], to running: RunningProgram, _ token: String, _ client: HTTPClient,
    killingAfter goal: Int
  ) async -> [MixedStory.Message] {
    let progress = Progress(killing: running.id, after: goal)
    await withTaskGroup(of: Void.self) { group in
      for lane in 0..<8 {
        group.addTask {
          for number in stride(from: lane, to: messages.count, by: 8) {
            let message = messages[number]
            let isTold = if case .notification = message.door { true } else { false }
            let request = ClientRequest(
              method: "POST",
              url: running.url + (isTold ? "/notifications" : "/v1/evidence?environment=Sandbox"),
              headers: isTold ? [] : [("Authorization", "Bearer \(token)")], body: message.body,
              deadline: .seconds(60))
            guard let answer = try? await client.send(request) else { continue }
            #expect(answer.status == 200 || answer.status == 503, "\(String(decoding: answer.body, as: UTF8.self))")
            guard answer.status == 200 else { continue }
            progress.note(number)
          }
        }
      }
    }
    let taken = progress.taken
    return messages.enumerated().filter { !taken.contains($0.offset) }.map(\.element)
  }
}

/// Which messages were acknowledged; kills the service after so many.
private final class Progress: Sendable {
  private let victim: pid_t
  private let goal: Int
  private let numbers = Mutex<Set<Int>>([])

  init(killing victim: pid_t, after goal: Int) {
    self.victim = victim
    self.goal = goal
  }

  var taken: Set<Int> { numbers.withLock { $0 } }

  func note(_ number: Int) {
    let count = numbers.withLock { numbers in
      numbers.insert(number)
      return numbers.count
    }
    if count == goal { kill(victim, SIGKILL) }
  }
}

extension Program {
  /// A size that `scripts/soak` gives by the environment; nil in a test.
  static func setting(_ name: String) -> Int? {
    guard let text = unsafe getenv(name) else { return nil }
    return unsafe Int(String(cString: text))
  }
}
