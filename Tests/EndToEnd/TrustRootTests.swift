import Receipts

private let app = "com.example.inkwell"

/// Extra roots of `serve`: for receipts as for signed data, and each for its environment alone.
@Suite struct `switchyard serve --trust-root` {
  /// A simulated purchase: the notification and the receipt of it, and the roots of both.
  private struct Purchase {
    let notification: [UInt8]
    let transaction: [UInt8]
    let receipt: [UInt8]
    let signedRoot: String
    let receiptRoot: String
    let originalID: String

    init(in environment: String, _ place: TemporaryDirectory) async throws {
      let world = "\(place.path)/\(environment)"
      // In a process of its own, which has its own keys for receipts.
      let run = try await Program(runsProcesses: true).run(
        "simulate", "--generate", "--customers", "20", "--app", app, "--environment", environment.lowercased(), "--out",
        world)
      try #require(run.status == 0, "\(run)")
      (signedRoot, receiptRoot) = ("\(world)/root.der", "\(world)/receipt-root.der")
      let receipts = Program.text("\(world)/receipts.csv").split(separator: "\n").dropFirst().compactMap {
        $0.split(separator: ",").last.map { Array($0.utf8) }
      }
      let reader = ReceiptReader(trust: .apple)
      let bodies = Program.text("\(world)/notifications.jsonl").split(separator: "\n").map { Array($0.utf8) }
      for body in bodies {
        let jws = try #require(try JSONReader.read(body).object?["signedPayload"]?.string)
        let data = Self.payload(jws)?["data"]?.object
        guard let signed = data?["signedTransactionInfo"]?.string,
          let id = Self.payload(signed)?["originalTransactionId"]?.string,
          let receipt = receipts.first(where: {
            reader.read($0).receipt?.environment != nil && reader.read($0).receipt?.originalTransactionIDs == [id]
          })
        else { continue }
        (notification, transaction, self.receipt, originalID) = (body, Array(signed.utf8), receipt, id)
        return
      }
      throw DatabaseError(.misuse, "no customer of one purchase has a notification and a receipt")
    }

    private static func payload(_ jws: String) -> JSONObject? {
      let part = jws.split(separator: ".").dropFirst().first.flatMap { Base64.url.decode(Array($0.utf8)) }
      return part.flatMap { try? JSONReader.read($0).object }
    }
  }

  private struct Told: Equatable {
    var notification: Int
    var transaction: Int
    var receipt: String
  }

  /// What a service makes of a purchase: the statuses of its signed data, and the source that its receipt became.
  private func told(_ purchase: Purchase, _ url: String, _ token: String) async throws -> Told {
    let client = HTTPClient()
    func post(_ path: String, _ body: [UInt8]) async throws -> (Int, JSONObject) {
      let response = try await client.send(
        ClientRequest(
          method: "POST", url: url + path, headers: [("Authorization", "Bearer \(token)")], body: body))
      return (response.status, (try? JSONReader.read(response.body).object) ?? [:])
    }
    // The receipt first: what is signed wins over it, and would be all that a look-up shows.
    let receipt = try await post("/v1/evidence", purchase.receipt)
    #expect(receipt.0 == 200, "\(receipt)")
    let digest = receipt.1["message"]
    let found = try await client.send(
      ClientRequest(
        url: "\(url)/v1/apps/\(app)/purchases/\(purchase.originalID)",
        headers: [("Authorization", "Bearer \(token)")]))
    let transaction = try await post("/v1/evidence", purchase.transaction)
    let notification = try await post("/v1/evidence", purchase.notification)
    await client.shutdown()
    let sources = Self.sources(.object((try? JSONReader.read(found.body).object) ?? [:]), of: digest)
    return Told(
      notification: notification.0, transaction: transaction.0,
      receipt: sources.sorted().joined(separator: " "))
  }

  /// The sources of what a message said, wherever in the document provenance names it.
  private static func sources(_ value: JSONValue, of digest: JSONValue?) -> Set<String> {
    var found: Set<String> = []
    if let object = value.object {
      if object["message"] == digest, let source = object["source"]?.string { found.insert(source) }
      for member in object { found.formUnion(sources(member.value, of: digest)) }
    }
    for item in value.array ?? [] { found.formUnion(sources(item, of: digest)) }
    return found
  }

  private func serving<R>(
    _ options: [String], _ body: (_ url: String, _ token: String, _ log: () -> String) async throws -> R
  ) async throws -> R {
    let database = try await TestDatabase.migrated()
    let program = database.program
    try #require(try await program.run("app", "add", app, "--app-apple-id", "1600000000").status == 0)
    let token = try await program.run("app", "token", app, "--label", "test").output.dropLast()
    let running = try await RunningProgram.inProcess(
      program, options + ["--reconcile-every", "0", "--heartbeat-every", "0"])
    let result: Result<R, any Error>
    do { result = .success(try await body(running.url, String(token), { running.notes })) } catch {
      result = .failure(error)
    }
    #expect(await running.end(SIGTERM) == 0)
    return try result.get()
  }

  @Test func `believes receipts and signed data of both environments, each below its own roots`() async throws {
    let place = TemporaryDirectory()
    let sandbox = try await Purchase(in: "Sandbox", place)
    let production = try await Purchase(in: "Production", place)
    let believed = Told(notification: 200, transaction: 200, receipt: "verifiedReceipt")
    let options = [
      "--trust-root", "Sandbox=\(sandbox.signedRoot)", "--trust-root", "Sandbox=\(sandbox.receiptRoot)",
      "--trust-root", "Production=\(production.signedRoot)", "--trust-root",
      "Production=\(production.receiptRoot)", "--i-know-this-root-can-make-purchases-count",
    ]
    try await serving(options) { url, token, log in
      let both = [try await told(sandbox, url, token), try await told(production, url, token)]
      #expect(both == [believed, believed])
      let warnings = log().split(separator: "\n").filter { $0.contains("extra root trusted") }
      #expect(warnings.count == 4 && warnings.contains { $0.contains(production.receiptRoot) }, "\(log())")
    }
  }

  @Test func `of the sandbox proves nothing of Production`() async throws {
    let place = TemporaryDirectory()
    let sandbox = try await Purchase(in: "Sandbox", place)
    let production = try await Purchase(in: "Production", place)
    let roots = [sandbox.signedRoot, sandbox.receiptRoot, production.receiptRoot]
    let options = roots.flatMap { ["--trust-root", $0] }
    try await serving(options) { url, token, _ in
      let both = [try await told(sandbox, url, token), try await told(production, url, token)]
      #expect(
        both == [
          Told(notification: 200, transaction: 200, receipt: "verifiedReceipt"),
          Told(notification: 422, transaction: 422, receipt: "unverifiedReceipt"),
        ])
    }
  }

  @Test func `says how it is used, and wants Production said twice`() async throws {
    let place = TemporaryDirectory()
    let root = try SignedFixtures().root(in: place)
    for value in ["Mars=\(root)", "Sandbox="] {
      let refused = try await Program().run("db", "rebuild", "--trust-root", value)
      #expect(refused.status == 1 && refused.notes.contains("there is no file"), "\(refused)")
    }
    let refused = try await Program().run("db", "rebuild", "--trust-root", "Production=\(root)")
    #expect(refused.status == 2 && refused.notes.contains("--i-know-this-root-can-make-purchases-count"), "\(refused)")
  }
}
