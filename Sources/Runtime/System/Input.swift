import Glibc

/// Reads what a command is given, bounded.
package enum Input {
  package enum InputError: ExitStatusError, Equatable, CustomStringConvertible {
    case noSuchFile(String)
    case isDirectory(String)
    case tooLarge(String, limit: Int)
    case notReadable(String, reason: String)
    /// The task was cancelled while the input had nothing to read.
    case stopped(String)

    package var exitStatus: ExitStatus { .failed }

    package var description: String {
      switch self {
      case .noSuchFile(let path): "there is no file \(UsageError.shown(path))"
      case .isDirectory(let path): "\(UsageError.shown(path)) is a directory; give a file"
      case .tooLarge(let path, let limit): "\(UsageError.shown(path)) is larger than \(limit) bytes"
      case .notReadable(let path, let reason): "\(UsageError.shown(path)) cannot be read: \(reason)"
      case .stopped(let path): "\(UsageError.shown(path)) was not read to its end"
      }
    }
  }

  /// The bytes of a file, or of stdin when `path` is `-`; more than `limit` is an error, not a part.
  package static func read(_ path: String, limit: Int) throws(InputError) -> [UInt8] {
    if path == "-" { return try read(from: Terminal.input, path: "stdin", limit: limit) }
    guard !path.utf8.contains(0) else { throw .noSuchFile(path) }
    let descriptor: Int32
    do {
      descriptor = try SystemCall.openForReading(path)
    } catch {
      throw error.number == ENOENT ? .noSuchFile(path) : .notReadable(path, reason: error.description)
    }
    defer { SystemCall.close(descriptor) }
    return try read(from: descriptor, path: path, limit: limit)
  }

  private static func read(from descriptor: Int32, path: String, limit: Int) throws(InputError) -> [UInt8] {
    if SystemCall.isDirectory(descriptor) { throw .isDirectory(path) }
    var bytes: [UInt8] = []
    while true {
      // A pipe or a terminal may have nothing to say for long, and a blocking read would not notice the stop.
      while !SystemCall.isReadable(descriptor, within: 100) {
        if Task.isCancelled { throw .stopped(path) }
      }
      let part: [UInt8]
      do {
        part = try SystemCall.read(65_536, from: descriptor)
      } catch {
        throw .notReadable(path, reason: error.description)
      }
      if part.isEmpty { return bytes }
      guard bytes.count + part.count <= limit else { throw .tooLarge(path, limit: limit) }
      bytes += part
    }
  }
}
