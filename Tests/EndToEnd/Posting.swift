import HTTPClient
import Testing
import Time

/// Posts bodies as Apple would, eight at a time; each has to be taken.
enum Posting {
  static func all(_ bodies: [[UInt8]], to url: String) async throws {
    let client = HTTPClient()
    let refused = try await withThrowingTaskGroup(of: Int.self) { group in
      for lane in 0..<8 {
        group.addTask {
          var refused = 0
          for body in stride(from: lane, to: bodies.count, by: 8).map({ bodies[$0] }) {
            let request = ClientRequest(method: "POST", url: url, body: body, deadline: .seconds(60))
            if try await client.send(request).status != 200 { refused += 1 }
          }
          return refused
        }
      }
      return try await group.reduce(0, +)
    }
    await client.shutdown()
    #expect(refused == 0)
  }
}
