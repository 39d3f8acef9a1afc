import Database
import HTTPServer
import JSON
import Ledger
import Simulator
import Testing
import Time

@testable import Service

@Suite struct `What is kept of one address's junk` {
  private static let start = Milliseconds(1_780_000_000_000)

  private func allowance(_ change: (inout JunkAllowance.Settings) -> Void = { _ in }) -> JunkAllowance {
    var settings = JunkAllowance.Settings()
    (settings.burst, settings.refill, settings.addresses) = (3, .seconds(30), 10)
    change(&settings)
    return JunkAllowance(settings)
  }

  private func address(_ last: Int) -> PeerAddress { PeerAddress(bytes: [192, 0, 2, UInt8(last)], port: 1) }

  @Test func `is a burst, and then a little at a time`() {
    let allowance = allowance()
    for _ in 0..<3 { #expect(allowance.take(10, from: address(1), at: Self.start)) }
    #expect(!allowance.take(10, from: address(1), at: Self.start))
    #expect(!allowance.take(10, from: address(1), at: Self.start + .seconds(29)))
    #expect(allowance.take(10, from: address(1), at: Self.start + .seconds(30)))
    #expect(!allowance.take(10, from: address(1), at: Self.start + .seconds(30)))
    // Never more than a burst, and none for a clock that goes back.
    for _ in 0..<3 { #expect(allowance.take(10, from: address(1), at: Self.start + .hours(24))) }
    #expect(!allowance.take(10, from: address(1), at: Self.start))
    #expect(!allowance.take(10, from: address(1), at: Self.start + .hours(24)))
    #expect(allowance.take(10, from: address(2), at: Self.start))
  }

  @Test func `is less for large messages`() {
    let allowance = allowance()
    #expect(allowance.take(20 << 10, from: address(1), at: Self.start))
    #expect(!allowance.take(20 << 10, from: address(1), at: Self.start))
    #expect(allowance.take(10, from: address(1), at: Self.start))
    // A message that is dearer than any bucket takes a full one.
    #expect(allowance.take(1 << 20, from: address(2), at: Self.start))
    #expect(!allowance.take(1, from: address(2), at: Self.start))
  }

  @Test func `counts a /64 of IPv6 as one address`() {
    let allowance = allowance()
    let network: [UInt8] = [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 1]
    for host in 0..<3 {
      let peer = PeerAddress(bytes: network + [0, 0, 0, 0, 0, 0, 0, UInt8(host)], port: 1)
      #expect(allowance.take(10, from: peer, at: Self.start))
    }
    #expect(!allowance.take(10, from: PeerAddress(bytes: network + [9, 9, 9, 9, 9, 9, 9, 9], port: 1), at: Self.start))
    let next = PeerAddress(bytes: network.dropLast() + [2, 0, 0, 0, 0, 0, 0, 0, 1], port: 1)
    #expect(allowance.take(10, from: next, at: Self.start))
  }

  @Test func `is not limited for Apple's own networks`() {
    let allowance = allowance()
    for _ in 0..<100 {
      #expect(allowance.take(1 << 20, from: PeerAddress(bytes: [17, 58, 0, 1], port: 1), at: Self.start))
    }
  }

  @Test func `is of a bounded number of addresses, beyond which all others share one bucket`() {
    let allowance = allowance()
    for last in 0..<10 { #expect(allowance.take(10, from: address(last), at: Self.start)) }
    for last in 10..<13 { #expect(allowance.take(10, from: address(last), at: Self.start)) }
    #expect(!allowance.take(10, from: address(13), at: Self.start))
    // Those that have a bucket keep it, and those that are full again make room.
    #expect(allowance.take(10, from: address(0), at: Self.start))
    #expect(allowance.take(10, from: address(13), at: Self.start + .seconds(40)))
  }
}

@Suite struct `Junk beyond its rate` {
  private func forged(_ number: Int, _ service: RunningService, _ stranger: ApplePKI) throws -> [UInt8] {
    try service.notification(id: "30000000000000\(10 + number)", signedBy: stranger)
  }

  @Test func `is counted and not kept, while what Apple signed still is`() async throws {
    try await RunningService.with({
      $0.junk.burst = 2
      $0.junk.exempt = []
    }) { service in
      let stranger = try ApplePKI.generate(at: RunningService.now)
      for number in 0..<2 {
        #expect(try await service.post("/notifications", forged(number, service, stranger)).status == 200)
      }
      let refused = try await service.post("/notifications", forged(2, service, stranger))
      #expect(refused.status == 429 && refused.body["error"]?.object?["code"] == "tooManyUnproven")
      let legacy: JSONObject = [
        "notification_type": "DID_RENEW", "password": "guessed", "bid": .string(RunningService.app),
        "environment": "Sandbox",
      ]
      // Before its secret is registered, an app's genuine messages look the same.
      #expect(try await service.post("/notifications", legacy.encoded()).body["status"] == "quarantined")
      try await service.register(secret: "registered now")
      var another = legacy
      another["auto_renew_product_id"] = "monthly"
      #expect(try await service.post("/notifications", another.encoded()).status == 429)
      // Set aside too, but Apple's.
      let unregistered = try service.notification(id: "3000000000000090") { transaction, data, _ in
        transaction["bundleId"] = "com.example.unregistered"
        data["bundleId"] = "com.example.unregistered"
      }
      #expect(try await service.post("/notifications", unregistered).body["status"] == "quarantined")
      #expect(try await service.post("/notifications", service.notification()).body["status"] == "stored")
      #expect(try await service.rowCount("quarantine") == 4)
      #expect(try await service.rowCount("inbox") == 1)
      let metrics = try await service.text("/metrics").text
      for line in [
        "switchyard_not_kept_total{source=\"unproven\",reason=\"rate\"} 1",
        "switchyard_not_kept_total{source=\"legacy\",reason=\"rate\"} 1",
      ] { #expect(metrics.contains(line), "\(line)") }
    }
  }
}
