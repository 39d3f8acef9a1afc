@testable import Service

/// A proxy that refuses a path knows one spelling of it.
@Suite struct `A path of the service` {
  @Test func `is taken in one spelling, and everything else is not found and not repeated`() async throws {
    try await RunningService.with { service in
      for path in ["/metrics", "/livez", "/readyz", "/metrics?x=//"] {
        let answer = try await service.text(path)
        #expect(answer.status != 404, "\(path)")
      }
      let spellings = [
        "//metrics", "/metrics/", "/%6detrics", "/metrics//", "/metric%73", "//livez", "/livez/", "/%6Civez",
        "/readyz/", "/Metrics", "/metrics/x", "/v1//apps/a/purchases/1", "/%761/apps/a/purchases/1",
        "/v1/apps/a/purchases/1/",
        "/v1/apps/a//purchases/1", "/v1/apps/a/%70urchases/1", "/", "/none",
        "/" + String(repeating: "a", count: 5_000),
      ]
      for path in spellings {
        let answer = try await service.text(path)
        #expect(answer.status == 404 && answer.text.contains("notFound"), "\(path) \(answer)")
        #expect(!answer.text.contains("aaaa") && !answer.text.contains("none"), "\(answer.text)")
      }
    }
  }

  /// Such a URL may be in App Store Connect.
  @Test(arguments: ["/notifications", "/notifications/", "//notifications", "/notifications/com.example.app/"])
  func `of notifications may have a slash too many`(path: String) async throws {
    try await RunningService.with { service in
      let answer = try await service.post(path, Array("{}".utf8))
      #expect(answer.status != 404)
    }
  }

  @Test(arguments: ["/%6eotifications", "/verify%52eceipt", "/notifications/com.example%2eapp"])
  func `that is open to everybody has no escapes`(path: String) async throws {
    try await RunningService.with { service in
      let answer = try await service.post(path, Array("{}".utf8))
      #expect(answer.status == 404)
    }
  }

  @Test func `with an id may have escapes in the id`() async throws {
    try await RunningService.with { service in
      let answer = try await service.text("/v1/apps/\(RunningService.app)/customers/user%40example.com")
      #expect(answer.status == 401)
    }
  }
}
