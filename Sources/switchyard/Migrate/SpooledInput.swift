import Runtime
import Signing

/// Standard input, kept as a file: a job is read again after a crash, and a pipe cannot be.
enum SpooledInput {
  /// Returns where it is, once it is whole.
  static func keep(in directory: String) throws -> String {
    let folder = "\(FileFacts.absolute(directory))/migrations"
    guard FileFacts.makeDirectory(folder) else { throw FileError(folder, reason: "the folder cannot be made") }
    let name = String(decoding: Base64.url.encode([UInt8].random(count: 12)), as: UTF8.self)
    let path = "\(folder)/stdin-\(name)"
    let input = try InputFile("-")
    let output = try OutputFile(path)
    while true {
      let bytes = try input.read(1 << 20)
      if bytes.isEmpty { return path }
      try output.write(bytes)
    }
  }
}
