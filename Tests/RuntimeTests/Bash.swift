struct BashFailure: Error { let status: Int32 }

/// The output of a program for bash, which reads it from a file of its own.
func bash(_ program: String) throws -> String {
  let file = try TemporaryFile(Array(program.utf8))
  guard let stream = unsafe popen("bash --norc '\(file.path)'", "r") else { throw BashFailure(status: -1) }
  var output: [UInt8] = []
  while case let byte = unsafe fgetc(stream), byte != EOF { output.append(UInt8(truncatingIfNeeded: byte)) }
  let status = unsafe pclose(stream)
  guard status == 0 else { throw BashFailure(status: status) }
  return String(decoding: output, as: UTF8.self)
}

/// A file that goes away with its owner.
final class TemporaryFile: Sendable {
  struct Failure: Error {}

  let path: String

  init(_ bytes: [UInt8]) throws {
    var template = Array("/tmp/switchyard-test-XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&template)
    guard descriptor >= 0 else { throw Failure() }
    defer { close(descriptor) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let written = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    guard written == bytes.count else { throw Failure() }
  }

  deinit { unsafe unlink(path) }
}
