import Database
import Glibc
import HTTPServer
import JSON
import Support
import Testing
import Time

/// An old back end that takes everything.
private struct Taking: HTTPHandler {
  func respond(to request: HTTPRequest) async -> HTTPResponse { HTTPResponse(status: 200) }
}

/// runbooks/switch-to-v2.md, typed word for word, while an App Store sends version 1 and, once it is told to, version 2.
@Suite struct `The runbook that sets version 2` {
  private static let app = MigrateSite.app

  @Test func `is followed from version 1 to version 2`() async throws {
    let runbook = try Runbook("switch-to-v2")
    #expect(runbook.headings == Runbook.headings && !runbook.hasUntyped)
    let old = HTTPServer(HTTPServerConfiguration(port: 0), handler: Taking()) { _ in }
    try old.start()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await old.run() }
      defer { group.cancelAll() }
      try await MigrateSite.with(customers: 2) { site in
        let program = site.program
        let secret = site.apple.world["apps"]?.array?.first?.object?["sharedSecret"]?.string ?? ""
        let file = site.database.place.file("secret", Array(secret.utf8))
        #expect(try await program.run("app", "secret", Self.app, "--file", file).status == 0)
        let url = "http://127.0.0.1:\(old.port)/"
        let named = try await program.run("app", "legacy-url", Self.app, url, "--environment", "Sandbox")
        #expect(named.status == 0, "\(named)")
        let service = try await RunningProgram.serve(
          program, site.roots + ["--reconcile-every", "0", "--heartbeat-every", "0"])
        try await follow(runbook, site, service)
        #expect(await service.end(SIGTERM) == 0, "\(service.notes)")
      }
    }
  }

  private func follow(_ runbook: Runbook, _ site: MigrateSite, _ service: RunningProgram) async throws {
    let apple = site.apple
    var program = site.program
    program.environment["SWITCHYARD_DATA_DIR"] = site.database.place.path + "/data"
    func direct(_ version: Int) async throws {
      try await apple.control(
        "destination", "bundleId=\(Self.app)", "environment=Sandbox", "url=\(service.url)/notifications/\(Self.app)",
        "version=\(version)")
    }
    func isStored(_ title: SQL) async throws -> Bool {
      try await eventually { try await site.database.rows("SELECT 1 FROM inbox WHERE " + title).isEmpty == false }
    }
    try await direct(1)
    let enrolled = try await apple.control("enrol", "bundleId=\(Self.app)", "environment=Sandbox")
    let customer = try #require(enrolled.first?["customer"]?.string)
    try await apple.control("act", "act=buy", "productId=plus.monthly", "customer=\(customer)")
    try await apple.control("advance", "milliseconds=10000")
    #expect(try await isStored("title LIKE 'V1 %'"), "\(service.notes)")

    let values = ["APP": Self.app, "ENVIRONMENT": "Sandbox", "URL": service.url]
    let blocks = runbook.blocks.map(\.commands)
    let examples = try #require(Runbook.filled(blocks[0], with: values))
    let end = try #require(blocks.firstIndex { $0.contains("Version 2") })
    let first = try await program.shell(([examples] + blocks[1...end]).joined(separator: "\n"))
    #expect(first.status == 0 && first.output.contains(" v1 "), "\(first)")
    #expect(
      first.output.contains("Sandbox Server URL: \(service.url)/notifications/\(Self.app), Version 2"), "\(first)")
    // As it was printed.
    try await direct(2)
    let second = try await program.shell(([examples] + blocks[(end + 1)...]).joined(separator: "\n"))
    #expect(second.status == 0, "\(second)")
    #expect(second.output.contains("SUCCESS") && second.output.contains(#""state":"both""#), "\(second)")
  }
}
