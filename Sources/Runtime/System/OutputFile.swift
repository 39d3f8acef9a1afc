import Glibc
import Synchronization

/// A file that is written from its beginning; whatever it held before is gone.
package final class OutputFile: Sendable {
  package let path: String
  private let descriptor: Int32

  /// Readable by its owner alone: what programs here write is about customers.
  package init(_ path: String) throws(FileError) {
    self.path = path
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileError(path, .last()) }
  }

  deinit { SystemCall.close(descriptor) }

  /// All of it, or an error.
  package func write(_ bytes: [UInt8]) throws(FileError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      do throws(SystemCall.Failure) { rest = rest.dropFirst(try SystemCall.write(rest, to: descriptor)) } catch {
        throw FileError(path, error)
      }
    }
  }
}
