import Glibc
import HTTPClient
import JSON
import Support
import Testing
import Time

/// What becomes of those who wait when `serve` is stopped.
@Suite struct `A service that is stopped` {
  private static let app = "com.example.stopped"

  @Test func `answers who waits for Apple, and gives back what it asks about`() async throws {
    try await Market.with([Self.app]) { market in
      let database = try await TestDatabase.migrated()
      try await market.register(Self.app, database.program)
      let token = try await database.program.run("app", "token", Self.app).output.split(separator: "\n").first ?? ""
      let sold = try await market.control("truth").objects.compactMap { $0["transaction"]?.object }
      let ids = sold.compactMap { $0["originalTransactionId"]?.string }
      let id = try #require(ids.first)
      try await market.control("fault", "fault=stalled", "on=api", "value=600000", "times=null")
      let service = try await RunningProgram.serve(database.program, market.trust)
      let request = ClientRequest(
        method: "POST", url: "\(service.url)/v1/evidence?wait=20", headers: [("Authorization", "Bearer \(token)")],
        body: (["originalTransactionId": .string(id), "environment": "Sandbox"] as JSONObject).encoded(),
        deadline: .seconds(90))
      let client = HTTPClient()
      let waiting = Task { try await client.send(request) }
      #expect(try await eventually { try await market.matched() > 0 })
      #expect(await service.end(SIGTERM) == 0, "\(service.notes)")
      let answer = try await waiting.value
      await client.shutdown()
      #expect(answer.status == 200)
      #expect(try JSONReader.read(answer.body).object?["history"] == "waiting")
      #expect(!service.notes.contains("requests unfinished"), "\(service.notes)")
      let seed = try await database.program.run("seeds", "show", Self.app, "--json").objects.first {
        $0["id"] == .string(id)
      }
      #expect(seed?["state"] == "waiting" && seed?["isLeased"] == false, "\(String(describing: seed))")
    }
  }
}
