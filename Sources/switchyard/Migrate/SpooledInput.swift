import Glibc
import Runtime
import Signing
import Synchronization

/// Standard input, kept as a file: a job is read again after a crash, and a pipe cannot be.
final class SpooledInput: Sendable {
  private let directory: String
  private let paths = Mutex<[String]>([])

  /// - Parameter directory: of the data.
  init(in directory: String) { self.directory = directory }

  /// Returns where it is, once it is whole; a command that is stopped stops it, whatever came until then.
  func keep() throws -> String {
    let folder = "\(FileMetadata.absolute(directory))/migrations"
    guard FileMetadata.makeDirectory(folder) else { throw FileError(folder, reason: "the folder cannot be made") }
    let name = String(decoding: Base64.url.encode([UInt8].random(count: 12)), as: UTF8.self)
    let path = "\(folder)/stdin-\(name)"
    let input = try InputFile("-")
    let output = try OutputFile(path)
    paths.withLock { $0.append(path) }
    while true {
      // A pipe whose writer says nothing must not keep the command, and one that the same Ctrl-C ended is not whole.
      let isReady = input.isReady(within: 100)
      try Task.checkCancellation()
      guard isReady else { continue }
      let bytes = try input.read(1 << 20)
      try Task.checkCancellation()
      if bytes.isEmpty { return path }
      try output.write(bytes)
    }
  }

  /// Removes what was kept, whole or not: neither a job nor a plan is going to read it.
  func remove() {
    for path in paths.withLock({ $0 }) { _ = unsafe unlink(path) }
  }
}
