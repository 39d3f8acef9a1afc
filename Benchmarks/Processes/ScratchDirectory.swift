import Database
import Glibc

/// A directory for the length of a benchmark, which the database's own user may enter.
final class ScratchDirectory: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/switchyard-benchmark-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw BenchmarkError("no directory in /tmp") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    unsafe chmod(path, 0o755)
  }

  deinit { Files.remove(path) }

  /// Writes a file of this name; its path.
  func write(_ bytes: [UInt8], to name: String) throws -> String {
    let file = unsafe open("\(path)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw BenchmarkError("\(name) cannot be written") }
    defer { close(file) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
      guard count > 0 else { throw BenchmarkError("\(name) cannot be written") }
      rest = rest.dropFirst(count)
    }
    return "\(path)/\(name)"
  }
}
