import Adapter
import JSON
import Ledger
import Purchases
import Signing
import Time

/// Evidence of any bytes: nothing stops the process, the same bytes are read the same way, and what is kept comes back.
///
/// The first byte chooses what the caller says beside the body: an environment, a user id, or that it is an answer which we
/// fetched.
struct EvidenceSubject {
  static let now = Timestamp(1_767_225_600_000)
  static let app = "com.example.fuzz"
  let adapter = MessageDecoder(verifier: SignedDataVerifier(roots: .apple))

  func check(_ input: [UInt8]) {
    guard let choice = input.first else { return }
    let body = Array(input.dropFirst())
    if read(body, choice) != read(body, choice) { preconditionFailure("read in two ways") }
    checkIdentity(body)
    let compact = CompactBody(body)
    guard let back = try? CompactBody.expand(compact.bytes, headers: compact.headers), back == body else {
      preconditionFailure("kept otherwise than it came")
    }
  }

  /// Whichever of its two signatures stands in a body, it is one message.
  private func checkIdentity(_ body: [UInt8]) {
    let identity = MessageIdentity(ofEvidence: body, app: Self.app, environment: nil)
    let (high, count) = CanonicalSignature.high.applied(to: body)
    let (low, again) = CanonicalSignature.low.applied(to: high)
    guard count == again, low == CanonicalSignature.low.applied(to: body).text,
      MessageIdentity(ofEvidence: high, app: Self.app, environment: nil).bytes == identity.bytes
    else { preconditionFailure("two messages of one") }
  }

  private func read(_ body: [UInt8], _ choice: UInt8) -> Findings? {
    let message = Digest.sha256(body)
    let environment = Environment(rawValue: ["", "Sandbox", "Production", "Xcode"][Int(choice % 4)])
    do {
      switch choice / 4 % 3 {
      case 0:
        return try adapter.evidence(
          body, app: Self.app, environment: environment, message: message, now: Self.now
        ).findings
      case 1:
        return try adapter.evidence(
          body, app: Self.app, environment: environment, userID: "user", message: message, now: Self.now
        ).findings
      default:
        return try adapter.apiAnswer(
          body, app: Self.app, environment: environment, message: message, now: Self.now
        ).findings
      }
    } catch {
      if error.detail.isEmpty { preconditionFailure("refused without a reason") }
      return nil
    }
  }
}
