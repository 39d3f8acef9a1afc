import Glibc

/// A file that is read from its beginning to its end, or stdin.
///
/// Confined to whoever reads it: never shared.
package final class InputFile {
  package let path: String
  /// The bytes it has; nil for a pipe or a terminal, which does not know.
  package let size: Int64?
  /// Device and number: two paths with the same lead to one file.
  package let identity: FileIdentity
  private let descriptor: Int32
  private let isOurs: Bool

  /// Opens it; `-` is stdin.
  package init(_ path: String) throws(FileError) {
    self.path = path == "-" ? "stdin" : path
    isOurs = path != "-"
    do throws(SystemCall.Failure) {
      descriptor = path == "-" ? Terminal.input : try SystemCall.openForReading(path)
    } catch {
      throw FileError(path, error)
    }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      let failure = SystemCall.Failure.last()
      if isOurs { SystemCall.close(descriptor) }
      throw FileError(path, failure)
    }
    size = status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
    identity = FileIdentity(status)
  }

  deinit { if isOurs { SystemCall.close(descriptor) } }

  /// Up to `count` bytes; empty at the end.
  package func read(_ count: Int) throws(FileError) -> [UInt8] {
    do throws(SystemCall.Failure) { return try SystemCall.read(count, from: descriptor) } catch {
      throw FileError(path, error)
    }
  }

  /// Whether `read` would give something at once (or tell of the end); waits for it so long.
  package func isReady(within milliseconds: Int32) -> Bool {
    size != nil || SystemCall.isReadable(descriptor, within: milliseconds)
  }
}

/// What tells one file from another, whatever its name.
package struct FileIdentity: Hashable, Sendable {
  private let device: UInt
  private let number: UInt

  init(_ status: stat) {
    device = status.st_dev
    number = status.st_ino
  }

  /// Nil when there is nothing.
  package init?(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    self.init(status)
  }
}
