import CLibFuzzer
import Glibc
import JSON
import Signing
import Time

/// The body of a notification, as anybody may send it: read strictly, written again, read to the same value.
@c(LLVMFuzzerTestOneInput)
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  guard let value = try? JSONReader.read(input) else { return 0 }
  guard let again = try? JSONReader.read(value.encoded()), again == value else {
    preconditionFailure("written and read again, it is another value")
  }
  _ = value.milliseconds?.iso8601
  if let jws = value.object?["signedPayload"]?.string {
    _ = try? verifier.verifyNotification(Array(jws.utf8), expecting: ExpectedClaims(), now: Milliseconds(0))
  }
  return 0
}

private let verifier = SignedDataVerifier(roots: .apple)

@main struct FuzzJSON {
  static func main() {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
    exit(unsafe LLVMFuzzerRunDriver(&count, &arguments) { unsafe test($0, $1) })
  }
}
