import Database
import Glibc
import HTTPClient
import Support
import Testing

/// What becomes of a service when strangers hold more connections than it may have file descriptors.
@Suite struct `A service without file descriptors` {
  private static let limit = 128

  /// Silent connections to a port of this machine; closed when they go.
  private final class SilentConnections {
    private let descriptors: [Int32]

    init(_ count: Int, to port: UInt16) {
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_port = port.bigEndian
      name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      descriptors = (0..<count).map { _ in
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        _ = unsafe withUnsafePointer(to: &name) { name in
          unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
          }
        }
        return descriptor
      }
    }

    deinit { for descriptor in descriptors where descriptor >= 0 { close(descriptor) } }
  }

  @Test func `turns connections away, and answers again when they are gone`() async throws {
    let database = try await TestDatabase.migrated()
    let service = try await RunningProgram.serve(database.program, [])
    let port = try #require(service.url.split(separator: ":").last.flatMap { UInt16($0) })
    let place = TemporaryDirectory()
    try database.program.write([], to: "\(place.path)/input")
    let limited = try database.program.spawn(
      ["--pid", "\(service.id)", "--nofile=\(Self.limit):"], place.path, path: "/usr/bin/prlimit")
    #expect(await Program.ended(limited) == 0)
    do {
      let silent = SilentConnections(2 * Self.limit, to: port)
      #expect(await eventually { service.notes.contains("a connection was not accepted") })
      // Some are free for everything else, however many connections wait.
      let open = Files.names(in: "/proc/\(service.id)/fd").count
      #expect(open < Self.limit - 8, "\(open)")
      withExtendedLifetime(silent) {}
    }
    let client = HTTPClient()
    let isAlive = await eventually {
      (try? await client.send(ClientRequest(url: "\(service.url)/livez")))?.status == 200
    }
    #expect(isAlive, "\(service.notes)")
    await client.shutdown()
    #expect(await service.end(SIGTERM) == 0, "\(service.notes)")
  }
}
