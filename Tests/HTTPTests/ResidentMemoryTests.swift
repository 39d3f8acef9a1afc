/// In a process of its own: what the tests beside it hold would blur the figures.
@Suite struct `The server's memory` {
  @Test func `stays bounded in a flood of bodies and goes back to the system after it`() async {
    await #expect(processExitsWith: .success) {
      try await withServer(limits: small { $0.bodiesInFlight = 32 << 20 }) { server in
        let before = residentMiB()
        let part = [UInt8](repeating: 0x78, count: (1 << 20) - 1)
        var clients: [RawClient] = []
        for _ in 0..<150 {
          let client = try RawClient(port: server.port)
          await client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(1 << 20)\r\n\r\n")
          await client.send(part)
          clients.append(client)
        }
        try await eventually("the others are refused") { (server.counters.refused[.bodyBudget] ?? 0) > 90 }
        let during = residentMiB()
        precondition(during < before + 96, "\(before) MiB before, \(during) during")
        for client in clients { await client.vanish() }
        try await eventually("it goes back") { residentMiB() < before + 10 }
        precondition(residentMiB() < before + 10, "\(before) MiB before, \(residentMiB()) after")
      }
    }
  }
}

private func residentMiB() -> Int {
  let descriptor = unsafe open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: 128)
  let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
  let pages = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ").dropFirst().first
  return (pages.flatMap { Int($0) } ?? 0) * Int(getpagesize()) / (1 << 20)
}
