import Operations
import Runtime

/// An app's shared secret, read from a file, because other users can see the command line.
enum SharedSecretFile {
  private static let limit = 16 << 10

  static func read(_ file: String) throws -> SharedSecret {
    guard let secret = SharedSecret(try Input.read(file, limit: limit)) else {
      throw SecretFileError(file: file, reason: "a shared secret is one word of ASCII, 32 hexadecimal digits as a rule")
    }
    return secret
  }
}

/// The file lacks a valid secret; the error never repeats its contents.
struct SecretFileError: ExitStatusError, CustomStringConvertible {
  let file: String
  let reason: String

  var exitStatus: ExitStatus { .failed }
  var description: String { "\(file): \(reason)" }
}
