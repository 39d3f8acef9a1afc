import Glibc
import Runtime
import Signing
import Synchronization

/// Standard input, stored as a file because a job rereads it after a crash, which a pipe does not allow.
final class SpooledInput: Sendable {
  private let directory: String
  private let paths = Mutex<[String]>([])

  init(in directory: String) { self.directory = directory }

  /// Returns the path of the whole copy; a stopped command stops it, even with partial input.
  func keep() throws -> String {
    let folder = "\(FileMetadata.absolute(directory))/migrations"
    guard FileMetadata.makeDirectory(folder) else { throw FileError(folder, reason: "the folder cannot be made") }
    let name = String(decoding: Base64.url.encode([UInt8].random(count: 12)), as: UTF8.self)
    let path = "\(folder)/stdin-\(name)"
    let input = try InputFile("-")
    let output = try OutputFile(path)
    paths.withLock { $0.append(path) }
    while true {
      // A silent pipe must not block the stop of the command, and one that the same Ctrl-C ended is not whole.
      let isReady = input.isReady(within: 100)
      try Task.checkCancellation()
      guard isReady else { continue }
      let bytes = try input.read(1 << 20)
      try Task.checkCancellation()
      if bytes.isEmpty { return path }
      try output.write(bytes)
    }
  }

  /// Removes the copy, whole or not, which no job or plan will read.
  func remove() {
    for path in paths.withLock({ $0 }) { _ = unsafe unlink(path) }
  }
}
