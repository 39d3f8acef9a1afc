import Database
import Glibc
import HTTPClient
import JSON
import Ledger
import Runtime
import Signing
import Simulator
import Time

/// The attacks of the second hostile trial, and hostile receipts and JSON.
extension StrangerAttack {
  static func all(_ samples: NotificationSamples) async throws -> [StrangerAttack] {
    let requests = try await HostileRequests(samples)
    let silence = try SilentPort()
    return [
      nested, claims(requests), victim(requests), oldBackEnd(requests, silence), refusals(requests), pipelined,
      spellings, descriptors, try receipts(silence), deepJSON,
    ]
  }

  /// Requests in turn at a rate, from all addresses.
  private static func flood(
    _ requests: [[UInt8]], _ rate: Int, connections: Int = 64
  ) -> @Sendable (ServedProcess.Target, Double) async throws -> String {
    { service, seconds in
      let sent = (0..<Int(Double(rate) * seconds)).map { requests[$0 % requests.count] }
      return try await LoadGenerator(
        port: service.port, connections: connections, pace: .perSecond(rate), seconds: seconds,
        sources: Strangers.addresses
      ).run(sent).text
    }
  }

  /// Bodies of 900 KB in which secrets are looked for.
  private static let nested = StrangerAttack(
    name: "nested",
    attack: flood(HostileBody.simple().map { LoadGenerator.request(DurableHTTP.path, $0.bytes) }, 4))

  /// The bodies of 1 MB that the app's secret vouches for, up to the stock.
  private static func claims(_ requests: HostileRequests) -> StrangerAttack {
    let stock = 16
    let bulky = requests.bulky(40)
    return StrangerAttack(
      name: "claims", options: ["--claimed-stock", "\(stock)"],
      attack: { service, seconds in
        // Each is another message.
        let sent = (0..<Int(10 * seconds)).map { number in
          bulky[number % bulky.count].replacingLast(
            of: #""product_id":"monthly""#, with: #""product_id":"m\#(number)""#)
        }
        return try await LoadGenerator(
          port: service.port, connections: 16, pace: .perSecond(10), seconds: seconds, sources: Strangers.addresses
        ).run(sent).text
      },
      check: { service in
        let bytes = try await service.number("SELECT COALESCE(SUM(size), 0) FROM inbox WHERE size > 500000")
        return [
          Measurement(
            name: "strangers.claims.kept", value: Double(bytes) / 1_048_576, unit: "MiB of strangers' claims",
            target: .below(Double(stock) + 0.001))
        ]
      })
  }

  /// Purchases without end, claimed of one customer.
  private static func victim(_ requests: HostileRequests) -> StrangerAttack {
    let id = "2000000000000001"
    return StrangerAttack(
      name: "victim", attack: flood(requests.about(id, 600), 40),
      check: { service in
        let (bytes, seconds) = try await service.lookUp(id, of: NotificationSamples.app)
        return [
          Measurement(
            name: "strangers.victim.page", value: Double(bytes) / 1_024, unit: "KiB of a look-up's page",
            target: .below(1_024)),
          Measurement(
            name: "strangers.victim.look-up", value: seconds, unit: "s of a look-up", target: .below(2)),
          Measurement(
            name: "strangers.victim.asked",
            value: Double(try await service.number("SELECT COUNT(*) FROM work")), unit: "ids to ask Apple about",
            target: .below(2)),
        ]
      })
  }

  /// Messages of another app, which is in `legacy` and whose old back end hangs.
  private static func oldBackEnd(_ requests: HostileRequests, _ silence: SilentPort) -> StrangerAttack {
    let app = SimulatedApp(name: "Old", bundleID: "com.example.old", appAppleID: 1_599_000_222)
    return StrangerAttack(
      name: "old-back-end",
      prepare: { service in
        try await service.register(app)
        try service.register(secret: HostileRequests.secret, of: app)
        try service.forward(app, to: "http://127.0.0.1:\(silence.number)/")
        try service.setStage("legacy", of: app)
      }, attack: flood(requests.of(app, 3_000), 100, connections: 256))
  }

  /// What is refused, without end.
  private static func refusals(_ requests: HostileRequests) -> StrangerAttack {
    StrangerAttack(name: "refusals", attack: flood(requests.refused(8_000), 500))
  }

  private static let pipelined = StrangerAttack(name: "pipelined") { service, seconds in
    let sent = try await PipelinedConnections.attack(service.port, from: Strangers.addresses, seconds: seconds)
    return "\(sent) requests"
  }

  /// Other spellings of paths, and long ones.
  private static let spellings = StrangerAttack(
    name: "spellings",
    attack: flood(
      ["//metrics", "/metrics/", "/%6detrics", "//livez", "/" + String(repeating: "a", count: 8_000)].map {
        Array("GET \($0) HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
      }, 200))

  /// So many connections that no file can be opened any more.
  private static let descriptors = StrangerAttack(
    name: "descriptors",
    attack: { service, seconds in
      // Once Apple's connections are there.
      try await Task.sleep(for: .seconds(1))
      try service.limitFiles(40)
      let silent = try HostileConnections(port: service.port, from: Strangers.addresses)
      try await Task.sleep(for: .seconds(max(1, seconds - 2)))
      let opened = silent.end()
      try service.limitFiles(nil)
      return "\(opened) connections"
    },
    check: { service in
      [
        Measurement(
          name: "strangers.descriptors.ended", value: service.target.isRunning ? 0 : 1, unit: "processes",
          target: .below(1))
      ]
    })

  /// Receipts that Apple signed, with hundreds of certificates more, some of a key of 8,192 bits, at an app whose receipts are
  /// read.
  private static func receipts(_ silence: SilentPort) throws -> StrangerAttack {
    let directory = try ScratchDirectory()
    var pki = try ReceiptPKI.generate(at: NotificationSamples.start)
    let root = try directory.write(pki.root.certificate.der, to: "receipts.der")
    let others = try (0..<100).flatMap { _ in
      try ReceiptPKI.generate(
        below: pki.root, ReceiptPKI.Blueprint(at: NotificationSamples.start), keys: pki
      ).certificates.prefix(2)
    }
    pki.certificates += try others + large(below: pki.root, in: directory) + others
    let requests = try (0..<40).map { number in
      try AnsweredCustomer(number, rows: 4, at: NotificationSamples.start).request(signedBy: pki)
    }
    let upstream = "http://127.0.0.1:\(silence.number)/"
    return StrangerAttack(
      name: "receipts",
      options: [
        "--trust-root", "Sandbox=\(root)", "--verify-receipt-url", upstream, "--verify-receipt-sandbox-url",
        upstream,
      ],
      prepare: { service in
        try service.setStage("live", of: NotificationSamples.app)
        // The root is read from it until now.
        withExtendedLifetime(directory) {}
      }, attack: flood(requests, 20, connections: 256))
  }

  /// Certificates of a key of 8,192 bits, which is made by the program of OpenSSL, with names of the greatest length.
  private static func large(below root: CertificateAuthority, in directory: ScratchDirectory) throws -> [[UInt8]] {
    let file = "\(directory.path)/large.pem"
    let program = try ChildProgram(
      "openssl", ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:8192", "-out", file],
      errors: "/dev/null")
    guard program.wait() == 0 else { throw BenchmarkError("openssl makes no key of 8,192 bits") }
    let key = try PrivateKey(pem: try Input.read(file, limit: 64 << 10))
    return try (0..<20).map { number in
      var template = ReceiptPKI.Blueprint(at: NotificationSamples.start).intermediate
      template.commonName = "\(number)" + String(repeating: "a", count: 60)
      return try root.issue(template, to: key).certificate.der
    }
  }

  /// Deep JSON and long numbers at every path that is open to everybody.
  private static let deepJSON = StrangerAttack(
    name: "deep-json",
    attack: flood(
      [
        String(repeating: "[", count: 500_000), String(repeating: #"{"a":"#, count: 150_000),
        "[" + String(repeating: "1", count: 900_000) + "]", #"{"a":1e"# + String(repeating: "9", count: 900_000) + "}",
        "[" + String(repeating: "-0.1e-9,", count: 110_000) + "1]",
        #"{"receipt-data":""# + String(repeating: "A", count: 900_000) + #""}"#,
      ].flatMap { text in
        ["/notifications", "/verifyReceipt", "/sandbox/verifyReceipt"].map {
          LoadGenerator.request($0, Array(text.utf8))
        }
      }, 6, connections: 256))
}

extension [UInt8] {
  /// The bytes with another text of the same length in the last place of one, or padded to it with blanks.
  fileprivate func replacingLast(of text: String, with other: String) -> [UInt8] {
    let (old, new) = (Array(text.utf8), Array(other.utf8))
    guard new.count <= old.count, let start = lastPlace(of: old) else { return self }
    var bytes = self
    let padded = new + [UInt8](repeating: UInt8(ascii: " "), count: old.count - new.count)
    bytes.replaceSubrange(start..<start + old.count, with: padded)
    return bytes
  }

  private func lastPlace(of other: [UInt8]) -> Int? {
    var start = count - other.count
    while start >= 0 {
      if self[start] == other[0], self[start..<start + other.count].elementsEqual(other) { return start }
      start -= 1
    }
    return nil
  }
}

extension ServedProcess {
  /// The number that a statement finds.
  fileprivate func number(_ statement: SQL) async throws -> Int {
    let connection = try await Connection.open(database)
    let rows = try await connection.read { session throws(DatabaseError) in try session.query(statement) }
    await connection.close()
    return try rows[0].int(0)
  }

  /// Looks a purchase up as the app's back end does; the bytes of the page and how long it took.
  fileprivate func lookUp(_ id: String, of app: SimulatedApp) async throws -> (bytes: Int, seconds: Double) {
    let connection = try await Connection.open(database)
    let token = try await connection.transaction { session throws(DatabaseError) in
      guard let app = try AppTable.find(app.bundleID, in: session) else { return "" }
      return try TokenTable.issue(for: app, label: "attack", at: NotificationSamples.start, in: session)
    }
    await connection.close()
    let client = HTTPClient()
    let start = ContinuousClock.now
    let answer = try await client.send(
      ClientRequest(
        url: "http://127.0.0.1:\(port)/v1/apps/\(app.bundleID)/purchases/\(id)",
        headers: [("Authorization", "Bearer \(token)")], deadline: .seconds(60), responseLimit: 64 << 20))
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    await client.shutdown()
    guard answer.status == 200 else {
      throw BenchmarkError("the look-up of a victim was answered \(answer.status)")
    }
    return (answer.body.count, seconds)
  }
}
