import Adapter
import JSON
import Purchases
import Signing
import Time

/// Bodies of the old generation, of any bytes: nothing stops the process, and the same bytes are read the same way.
///
/// The first byte chooses what the rest is: a notification, an answer of verifyReceipt, or evidence of any kind.
struct LegacySubject {
  static let now = Timestamp(1_767_225_600_000)
  let adapter = MessageDecoder(verifier: SignedDataVerifier(roots: .apple))

  func check(_ input: [UInt8]) {
    guard let choice = input.first else { return }
    let body = Array(input.dropFirst())
    let first = read(body, choice)
    if read(body, choice) != first { preconditionFailure("read in two ways") }
    _ = MessageIdentity(ofNotification: body).bytes
  }

  private func read(_ body: [UInt8], _ choice: UInt8) -> Findings? {
    let message = Digest.sha256(body)
    let origin = V1Context(app: nil, environment: nil, trust: .none, receivedAt: Self.now)
    do {
      switch choice % 3 {
      case 0: return try adapter.notification(body, message: message, origin: origin, now: Self.now).findings
      case 1:
        return try adapter.answer(body, app: nil, environment: .sandbox, message: message, now: Self.now).findings
      default:
        return try adapter.evidence(
          body, app: "com.example.fuzz", environment: nil, message: message, now: Self.now
        ).findings
      }
    } catch {
      if error.detail.isEmpty { preconditionFailure("refused without a reason") }
      return nil
    }
  }
}
