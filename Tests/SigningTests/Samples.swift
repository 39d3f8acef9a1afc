import Glibc
import Testing

/// The public test data beside the package root; absent elsewhere than where Switchyard is built, so tests say so.
enum Samples {
  static let directory: String = {
    let file = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    return file.dropLast(4).joined(separator: "/") + "/shared/samples"
  }()

  static let areHere = unsafe access(directory, R_OK) == 0

  static func bytes(_ name: String) throws -> [UInt8] {
    let file = unsafe open("\(directory)/\(name)", O_RDONLY | O_CLOEXEC)
    try #require(file >= 0, "sample \(name)")
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = unsafe read(file, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }

  /// A JWS in a file, without the line end.
  static func token(_ name: String) throws -> [UInt8] {
    Array(try bytes(name).reversed().drop { $0 == UInt8(ascii: "\n") }.reversed())
  }
}
