import JSON
import Signing
import Time

struct ResponseSigner: Sendable {
  /// The chain that the faults select, for payloads that are signed elsewhere.
  let signer: PayloadSigner
  let date: Timestamp
  private let hasUnknownFields: Bool
  private let isSpoilt: Bool

  init(_ signer: PayloadSigner, at date: Timestamp) {
    self.signer = signer
    self.date = date
    (hasUnknownFields, isSpoilt) = (false, false)
  }

  init(_ chains: SigningChains, _ faults: [Fault], at now: Timestamp) {
    signer = chains.signer(faults)
    hasUnknownFields = faults.contains { $0.kind == .unknownFields }
    isSpoilt = faults.contains { $0.kind == .badSignature }
    date = faults.reduce(now) { $1.kind == .clockSkew ? $0 + .milliseconds($1.value) : $0 }
  }

  func sign(_ payload: JSONObject) throws(CertificateError) -> [UInt8] {
    var jws = try signer.sign(extended(payload))
    // Still base64url, but of another signature.
    if isSpoilt {
      jws[jws.count - 20] = jws[jws.count - 20] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
    }
    return jws
  }

  func text(_ payload: JSONObject) throws(CertificateError) -> JSONValue {
    .string(String(decoding: try sign(payload), as: UTF8.self))
  }

  /// Adds unknown members, as Apple may in the future.
  func extended(_ object: JSONObject) -> JSONObject {
    guard hasUnknownFields else { return object }
    var object = object
    object["futureField"] = "future value"
    object["futureObject"] = ["number": 1, "list": [true, .null]]
    return object
  }
}

extension SigningChains {
  func signer(_ faults: [Fault]) -> PayloadSigner {
    for fault in faults {
      switch fault.kind {
      case .newChain: return renewed
      case .expiredChain: return expired
      case .foreignChain: return foreign
      default: continue
      }
    }
    return present
  }
}
