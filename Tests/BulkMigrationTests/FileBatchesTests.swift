@testable import BulkMigration

@Suite struct `The batches of a file` {
  private let place = TemporaryDirectory()

  private func file(_ bytes: [UInt8]) throws -> String {
    let path = "\(place.path)/ids.txt"
    try OutputFile(path).write(bytes)
    return path
  }

  private static func batches(of path: String) throws -> FileBatches {
    try FileBatches(FileSource(path: path, isFolder: false, size: nil), from: .start)
  }

  @Test func `end with an error that passes, so that the rest is read later`() async throws {
    let path = try file([[UInt8]](repeating: Array("1000000000000001\n".utf8), count: 200_000).flatMap { $0 })
    var batches = try Self.batches(of: path)
    guard case .block? = try await batches.next()?.content else {
      Issue.record("no rows")
      return
    }
    // From here on each read of the file fails, as one of a share that hangs.
    let identity = FileIdentity(path)
    let number = try #require((Int32(3)..<1_024).first { FileIdentity("/proc/self/fd/\($0)") == identity })
    let folder = unsafe open(place.path, O_RDONLY | O_DIRECTORY)
    dup2(folder, number)
    close(folder)
    var failure: (any Error)?
    do {
      while let batch = try await batches.next() {
        guard case .block = batch.content else {
          Issue.record("taken for damage")
          return
        }
      }
    } catch { failure = error }
    #expect(failure is FileError, "\(String(describing: failure))")
  }

  @Test func `end when the file is written over, or cut off, while it is read`() async throws {
    for isCut in [true, false] {
      let path = try file([[UInt8]](repeating: Array("1000000000000001\n".utf8), count: 200_000).flatMap { $0 })
      var batches = try Self.batches(of: path)
      guard case .block? = try await batches.next()?.content else {
        Issue.record("no rows")
        return
      }
      if isCut {
        #expect(unsafe truncate(path, 2_000_000) == 0)
      } else {
        var times = [timespec(), timespec()]
        times[1].tv_sec = Int((FileMetadata(path)?.modifiedAt ?? 0) + 3_600)
        #expect(unsafe utimensat(AT_FDCWD, path, times, 0) == 0)
      }
      var failure: (any Error)?
      do { while try await batches.next() != nil {} } catch { failure = error }
      #expect(failure is FileBatches.Changed, "\(isCut) \(String(describing: failure))")
    }
  }

  @Test func `are not read of another file of the same size`() throws {
    let path = try file(Array("1000000000000001\n".utf8))
    let parts = try FileSource.parts(of: path)
    guard case .files(let source) = try MigrationSource(stored: parts[0].source) else {
      Issue.record("no file")
      return
    }
    _ = try FileBatches(source, from: .start)
    _ = try file(Array("1000000000000002\n".utf8))
    // An hour later than the first.
    var times = [timespec(), timespec()]
    times[1].tv_sec = Int((FileMetadata(path)?.modifiedAt ?? 0) + 3_600)
    #expect(unsafe utimensat(AT_FDCWD, path, times, 0) == 0)
    #expect(throws: FileBatches.Changed.self) { try FileBatches(source, from: .start) }
  }

  @Test(arguments: [
    // gzip of nothing known, gzip cut within its head, UTF-16.
    [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xFF, 0xFF, 0xFF, 0xFF], [0x1F, 0x8B, 8, 0, 0, 0],
    [0xFF, 0xFE, 0x31, 0, 0x32, 0],
  ])
  func `end with a damaged file where its content is at fault`(bytes: [UInt8]) async throws {
    var batches = try Self.batches(of: try file(bytes))
    guard case .damaged? = try await batches.next()?.content else {
      Issue.record("not damaged")
      return
    }
    let next = try await batches.next()
    if next != nil { Issue.record("more after the damage") }
  }
}
