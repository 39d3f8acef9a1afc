import Glibc
import HTTPServer
import Support
import Synchronization
import Testing
import Time

@Suite struct `The page about the simulated App Store` {
  @Test func `has examples that work, word for word`() async throws {
    let blocks = try Runbook(page: "docs/simulator.md").blocks.map(\.commands)
    let place = TemporaryDirectory()
    let program = Program()
    let receiver = Receiver()
    let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(1)), handler: receiver) { _ in }
    try server.start()
    // The page's port and folder are its reader's; ours are free.
    let start = try #require(blocks.first).split(separator: " ").dropFirst().map {
      $0 == "8090" ? "0" : $0 == "world" ? "\(place.path)/world" : String($0)
    }
    try program.write([], to: "\(place.path)/input")
    let id = try program.spawn(start, place.path)
    let isReady = await eventually(within: .seconds(60)) {
      Program.text("\(place.path)/output").contains(#""ready":true"#)
    }
    let script = (["cd '\(place.path)'"] + blocks.dropFirst()).joined(separator: "\n")
      .replacing("http://127.0.0.1:8080/", with: "http://127.0.0.1:\(server.port)/")
    let outcome = try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      defer { group.cancelAll() }
      return try await program.shell(script)
    }
    kill(id, SIGTERM)
    #expect(await Program.ended(id) == 0)
    #expect(isReady && outcome.status == 0, "\(outcome)")
    for answer in [#""customers":["#, #""status":0"#, "ORIGINAL", #""delivered":"#, #""fault":"rateLimited""#] {
      #expect(outcome.output.contains(answer), "\(answer) is missing in \(outcome.output.prefix(4_000))")
    }
    #expect(receiver.count > 0, "what happens in 30 days is posted")
  }
}

/// Takes whatever is posted.
private final class Receiver: HTTPHandler {
  private let posts = Mutex(0)

  var count: Int { posts.withLock { $0 } }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    posts.withLock { $0 += 1 }
    return HTTPResponse(status: 200)
  }
}
