import Database
import Glibc
import HTTPClient
import JSON
import Purchases
import Runtime
import Signing
import Simulator
import Support
import Testing
import Time
import Truth

/// The simulated App Store sends to the service over HTTP; nobody asks Apple anything.
@Suite struct `A service that records` {
  private static let days: Int64 = 120

  @Test func `what it is sent without faults knows the truth`() async throws {
    try await Self.record(faults: []) { known, apple, notifications in
      let compared = known.compared(with: Array(apple.world.truth()), at: apple.world.now)
      #expect(compared.differences == [])
      #expect(compared.compared > 5)
      #expect(notifications.allSatisfy { $0["state"] == "delivered" })
    }
  }

  @Test func `lacks exactly what the sender lists as lost, whatever else goes wrong on the way`() async throws {
    try await Self.record(faults: ["dropped", "duplicated", "delayed", "reordered", "unknownFields"]) {
      known, apple, notifications in
      func ids(_ state: String) -> Set<String> {
        Set(notifications.filter { $0["state"]?.string == state }.compactMap { $0["notificationUUID"]?.string })
      }
      let told = Set(known.events.flatMap(\.tellings).compactMap(\.notificationUUID))
      #expect(told == ids("delivered"))
      #expect(!ids("lost").isEmpty && ids("lost").isDisjoint(with: told))
      let compared = known.compared(with: Array(apple.world.truth()), at: apple.world.now)
      let isMadeUp = compared.differences.contains { if case .madeUp = $0 { true } else { false } }
      #expect(!isMadeUp)
    }
  }

  /// Lives a world's months against a service of its own, then hands over what the service knows.
  private static func record(
    faults: [String],
    _ check: @Sendable (KnownPurchases, RunningAppStore, [JSONObject]) async throws -> Void
  ) async throws {
    let start = WallClock.system.now() - .days(days + 1)
    var settings = RunningAppStore.Settings()
    settings.namesResponder = false
    let apple = try RunningAppStore.start(
      MixedStory.world(customers: 8, seed: 7, start: start), settings, clock: .system)
    let database = try await TestDatabase.migrated()
    #expect(try await database.program.run("app", "add", MixedStory.app).status == 0)
    let root = database.place.file("root.der", apple.store.identity.chains.pki.root.certificate.der)
    let running = try await RunningProgram.serve(database.program, ["--trust-root", root])
    let client = HTTPClient()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await apple.run() }
      let place = AppPlace(bundleID: MixedStory.app, environment: .sandbox)
      apple.send(place, to: Destination(url: running.url + "/notifications", version: .v2))
      @Sendable func control(_ method: String, _ path: String, _ body: JSONObject? = nil) async throws -> JSONObject {
        let answer = try await client.send(
          ClientRequest(
            method: method, url: "\(apple.controlURL)/\(path)", body: body?.encoded() ?? [], deadline: .seconds(120),
            responseLimit: 16 << 20))
        #expect(answer.status == 200)
        return try JSONReader.read(answer.body).object ?? JSONObject()
      }
      for fault in faults {
        _ = try await control(
          "POST", "faults",
          ["fault": .string(fault), "on": "notifications", "percent": 8, "times": .null])
      }
      _ = try await control("POST", "advance", ["days": .integer(days)])
      let list = try await control("GET", "notifications?limit=10000")["notifications"]?.array ?? []
      let pool = Pool(database.configuration)
      let known = try await KnownPurchases(of: MixedStory.app, in: .sandbox, pool)
      await pool.close()
      try await check(known, apple, list.compactMap(\.object))
      group.cancelAll()
      while (try? await group.next()) != nil {}
    }
    await running.end(SIGTERM)
    await client.shutdown()
  }
}
