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

  /// Returns where it is, once it is whole.
  func keep() throws -> String {
    let folder = "\(FileFacts.absolute(directory))/migrations"
    guard FileFacts.makeDirectory(folder) else { throw FileError(folder, reason: "the folder cannot be made") }
    let name = String(decoding: Base64.url.encode([UInt8].random(count: 12)), as: UTF8.self)
    let path = "\(folder)/stdin-\(name)"
    let input = try InputFile("-")
    let output = try OutputFile(path)
    paths.withLock { $0.append(path) }
    while true {
      let bytes = try input.read(1 << 20)
      if bytes.isEmpty { return path }
      try output.write(bytes)
    }
  }

  /// Removes what was kept, whole or not: neither a job nor a plan is going to read it.
  func remove() {
    for path in paths.withLock({ $0 }) { _ = unsafe unlink(path) }
  }
}
