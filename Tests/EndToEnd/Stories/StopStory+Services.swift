@testable import Database

extension StopStory {
  /// A database that recovers, or another process that stops it, delays the start.
  @Test func `serve ends with 0 while it waits for the private database`() async throws {
    try await PrivateInstallation.with { installation in
      let home = "\(installation.place.path)/data/database"
      #expect(FileMetadata.makeDirectory(home))
      // As a keeper that is stopping the database.
      let users = try UsageLockFile("\(home)/users")
      try await users.lockOut()
      let words = ["serve", "--listen", "127.0.0.1:0"]
      let stopped = try await StoppedProgram.run(installation.program, words, SIGTERM) { place in
        Program.text("\(place)/notes").contains("waiting for the private database to stop")
      }
      users.leave()
      #expect(stopped.status == 0, "\(stopped)")
      #expect(stopped.length < StoppedProgram.longest, "\(stopped)")
      #expect(stopped.notes.contains("stopped before the start was complete"), "\(stopped)")
      #expect(!stopped.notes.contains("still stopping"), "\(stopped)")
    }
  }

  @Test func `serve turns connections away while it has no file descriptors, answers again, and ends with 0`()
    async throws
  {
    let database = try await TestDatabase.migrated()
    let service = try await RunningProgram.serve(database.program, [])
    // Beside those that it has, and those that it was given by a test that ran beside this one.
    let limit = Files.names(in: "/proc/\(service.id)/fd").count + 100
    let port = try #require(service.url.split(separator: ":").last.flatMap { UInt16($0) })
    let place = TemporaryDirectory()
    try database.program.write([], to: "\(place.path)/input")
    let limited = try database.program.spawn(
      ["--pid", "\(service.id)", "--nofile=\(limit):"], place.path, path: "/usr/bin/prlimit")
    #expect(await Program.ended(limited) == 0)
    do {
      let silent = SilentConnections(2 * limit, to: port)
      #expect(await eventually { service.notes.contains("a connection was not accepted") })
      // Some descriptors are free for the rest.
      let open = Files.names(in: "/proc/\(service.id)/fd").count
      #expect(open < limit - 8, "\(open)")
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

/// Connections to a port of this machine on which nothing is sent.
///
/// They are closed with the last reference.
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
