import Operations
import Runtime
import Signing

extension DigestPrefix {
  /// Throws unless the text has `minimum` to 64 hexadecimal digits.
  init(_ text: String, minimum: Int = 4, _ arguments: ParsedArguments) throws(UsageError) {
    guard let prefix = DigestPrefix(text, minimum: minimum) else {
      throw UsageError(
        .invalidValue, "A digest is given by \(minimum) to \(Digest.count * 2) hexadecimal digits.",
        path: arguments.path)
    }
    self = prefix
  }
}
