@testable import Service

@Suite struct `The disk of the database` {
  private static let headroom: UInt64 = 1_000

  /// Free bytes that a test decides.
  private final class Disk: Sendable {
    private let bytes = Atomic<UInt64>(5_000)
    var free: UInt64 {
      get { bytes.load(ordering: .sequentiallyConsistent) }
      set { bytes.store(newValue, ordering: .sequentiallyConsistent) }
    }
  }

  @Test(
    arguments: [
      (nil, .ample), (1_000, .ample), (999, .low), (500, .low), (499, .scarce), (250, .scarce), (249, .full),
      (0, .full),
    ] as [(UInt64?, DiskSpaceLevel)])
  func `has four levels`(free: UInt64?, level: DiskSpaceLevel) {
    #expect(DiskSpaceLevel(free: free, headroom: Self.headroom) == level)
    #expect(DiskSpaceLevel(free: free, headroom: 0) == .ample)
  }

  @Test func `is told of in the log once for each change`() {
    let (disk, log) = (Disk(), RecordingLogHandler())
    let watch = DiskSpaceMonitor(
      DiskSpaceMonitor.Settings(headroom: Self.headroom) { disk.free }, logger: Logger(label: "test", handler: log))
    for free: UInt64 in [5_000, 900, 800, 100, 50, 600, 5_000] {
      disk.free = free
      watch.check()
    }
    #expect(
      log.messages == [
        "disk below its headroom: unproven messages and strangers' claims are not kept",
        "disk full: nothing is stored, senders are answered 503",
        "disk below its headroom: unproven messages and strangers' claims are not kept",
        "disk has space again: everything is kept",
      ])
    #expect(log.records.allSatisfy { $0.metadata["headroomBytes"] != nil && $0.metadata["freeBytes"] != nil })
  }

  @Test func `is no business of strangers who ask whether the service is ready`() async throws {
    let listener = HTTPServerConfiguration(port: 0, threads: 1)
    try await RunningService.with({
      $0.disk = DiskSpaceMonitor.Settings(headroom: Self.headroom) { 100 }
      ($0.showsMetrics, $0.metricsListener) = (false, listener)
    }) { service in
      let ready = try await service.text("/readyz")
      #expect(ready.status == 503 && ready.text == "not ready\n")
      let port = try #require(service.metricsPort)
      let client = HTTPClient()
      let told = try await client.send(ClientRequest(method: "GET", url: "http://127.0.0.1:\(port)/readyz"))
      #expect(told.status == 503 && String(decoding: told.body, as: UTF8.self) == "not ready: disk full\n")
      await client.shutdown()
    }
  }

  @Test func `is kept for what is proven first, and named when it is full`() async throws {
    let disk = Disk()
    try await RunningService.with({ $0.disk = DiskSpaceMonitor.Settings(headroom: Self.headroom) { disk.free } }) {
      service in
      let stranger = try ApplePKI.generate(at: RunningService.now)
      func post(_ number: Int, forged: Bool = false) async throws -> (status: Int, body: JSONObject) {
        let id = "30000000000000\(10 + number)"
        return try await service.post(
          "/notifications", service.notification(id: id, signedBy: forged ? stranger : nil))
      }
      func reach(_ free: UInt64) async throws {
        disk.free = free
        let gauge = "switchyard_disk_free_bytes \(free)"
        #expect(await eventually { (try? await service.text("/metrics").text.contains(gauge)) == true })
      }
      #expect(try await post(0, forged: true).body["status"] == "quarantined")

      try await reach(900)
      let junk = try await post(1, forged: true)
      #expect(junk.status == 503 && junk.body["error"]?.object?["detail"]?.string?.contains("disk full") == true)
      #expect(try await post(2).body["status"] == "stored")
      #expect(try await service.text("/readyz").status == 200)

      try await service.register(secret: "the shared secret")
      let claimed: JSONObject = [
        "notification_type": "DID_RENEW", "password": "the shared secret", "bid": .string(RunningService.app),
        "environment": "Sandbox",
      ]
      try await reach(400)
      #expect(try await service.post("/notifications", claimed.encoded()).status == 503)
      #expect(try await post(5).body["status"] == "stored")

      try await reach(100)
      for answer in [
        try await post(3), try await post(4, forged: true),
        try await service.post(
          "/v1/evidence", Array("{\"originalTransactionId\":\"7\"}".utf8), token: service.token),
      ] {
        #expect(answer.status == 503 && answer.body["error"]?.object?["code"] == "diskFull")
        #expect(answer.body["error"]?.object?["detail"]?.string?.contains("disk full") == true)
      }
      let ready = try await service.text("/readyz")
      #expect(ready.status == 503 && ready.text.contains("disk full"))
      let metrics = try await service.text("/metrics").text
      #expect(metrics.contains("switchyard_disk_headroom_bytes 1000"))
      #expect(metrics.contains("switchyard_quarantine_dropped_total{source=\"unproven\",reason=\"disk\"} 2"))

      try await reach(5_000)
      #expect(try await post(3).body["status"] == "stored")
      #expect(try await service.rowCount("quarantine") == 1)
    }
  }
}
