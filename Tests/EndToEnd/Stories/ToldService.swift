/// A database and an app that receives a `MixedStory`, and services that are killed.
struct ToldService: Sendable {
  let database: TestDatabase
  let trust: [String]
  let story: MixedStory
  private let token: String
  private let client = HTTPClient()

  var program: Program { database.program }

  init(_ story: MixedStory) async throws {
    let database = try await TestDatabase.migrated()
    let (program, place) = (database.program, database.place)
    #expect(try await program.run("app", "add", MixedStory.app).status == 0)
    let secret = place.file("secret", Array(AppPlan.sample(MixedStory.app).sharedSecret.utf8))
    #expect(try await program.run("app", "secret", MixedStory.app, "--shared-secret-file", secret).status == 0)
    token = String(try await program.run("app", "token", MixedStory.app, "--label", "story").output.dropLast())
    trust = ["--trust-root", place.file("root.der", story.pki.root.certificate.der)]
    (self.database, self.story) = (database, story)
  }

  func serve() async throws -> RunningProgram { try await RunningProgram.serve(program, trust) }

  /// Posts over eight connections, and kills the service after `goal` acknowledgments.
  ///
  /// - Returns: the messages that were acknowledged, and the others.
  func tell(
    _ messages: [MixedStory.Message], to running: RunningProgram, killingAfter goal: Int? = nil
  ) async -> (taken: [MixedStory.Message], left: [MixedStory.Message]) {
    let taken = Mutex<Set<Int>>([])
    await withDiscardingTaskGroup { group in
      for lane in 0..<8 {
        group.addTask { @Sendable in
          for number in stride(from: lane, to: messages.count, by: 8) {
            guard await isTaken(messages[number], by: running) else { continue }
            let count = taken.withLock { taken in
              taken.insert(number)
              return taken.count
            }
            if count == goal { kill(running.id, SIGKILL) }
          }
        }
      }
    }
    let numbers = taken.withLock { $0 }
    return (
      numbers.sorted().map { messages[$0] },
      messages.indices.filter { !numbers.contains($0) }.map { messages[$0] }
    )
  }

  private func isTaken(_ message: MixedStory.Message, by running: RunningProgram) async -> Bool {
    let isNotification = message.isNotification
    let request = ClientRequest(
      method: "POST", url: running.url + (isNotification ? "/notifications" : "/v1/evidence?environment=Sandbox"),
      headers: isNotification ? [] : [("Authorization", "Bearer \(token)")], body: message.body,
      deadline: .seconds(60))
    guard let answer = try? await client.send(request) else { return false }
    #expect(answer.status == 200 || answer.status == 503, "\(String(decoding: answer.body, as: UTF8.self))")
    return answer.status == 200
  }

  /// The differences between the ledger and the world.
  func differences() async throws -> [TruthComparison.Difference] {
    let pool = Pool(database.configuration)
    let known = try await KnownPurchases(of: MixedStory.app, in: .sandbox, pool)
    await pool.close()
    return known.compared(with: story.truth(), at: story.world.now).differences
  }

  func dump() async throws -> [String] {
    try await program.run("db", "dump").output.split(separator: "\n").map(String.init)
  }

  func end() async { await client.shutdown() }
}

extension MixedStory.Message {
  var isNotification: Bool { if case .notification = door { true } else { false } }

  var isSigned: Bool { (try? JSONReader.read(body).object?["signedPayload"]?.string) != nil }

  /// The digest by which the inbox knows the message.
  var digest: Digest {
    let identity =
      isNotification
      ? MessageIdentity(ofNotification: body)
      : MessageIdentity(ofEvidence: body, app: MixedStory.app, environment: .sandbox)
    return identity.digest
  }
}
