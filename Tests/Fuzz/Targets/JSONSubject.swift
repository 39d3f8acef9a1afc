import JSON
import Signing
import Time

/// The body of a notification, as anybody may send it: read strictly, written again, read to the same value.
enum JSONSubject {
  private static let verifier = SignedDataVerifier(roots: .apple)

  static func check(_ input: [UInt8]) {
    guard let value = try? JSONReader.read(input) else { return }
    guard let again = try? JSONReader.read(value.encoded()), again == value else {
      preconditionFailure("written and read again, it is another value")
    }
    _ = value.milliseconds?.iso8601
    if let jws = value.object?["signedPayload"]?.string {
      _ = try? verifier.verifyNotification(Array(jws.utf8), expecting: ExpectedClaims(), now: Timestamp(0))
    }
  }
}
