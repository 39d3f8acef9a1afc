import JSON
import Purchases
import Signing
import Wire

/// The unsigned members of a response about its signed parts.
struct ResponseEnvelope {
  let bundleID: String?
  let appAppleID: Int64?
  let environment: Environment?

  /// - Parameter fallback: the environment of the request, which decides if the response names an undocumented one.
  init(_ answer: JSONObject, fallback: Environment?) throws(MessageError) {
    bundleID = answer["bundleId"]?.string
    appAppleID = answer["appAppleId"]?.integer
    if let name = answer["environment"]?.string {
      let known = Environment(rawValue: name)
      guard known != nil || fallback != nil else {
        throw MessageError(
          .authentic, .environmentUnknown, "the answer names an environment Apple does not document",
          claimedApp: bundleID)
      }
      environment = known
    } else {
      environment = nil
    }
  }

  /// Rejects signed claims that differ from the envelope; a missing claim is not a contradiction.
  func check(_ payload: JSONObject, originalTransactionID: String?) throws(VerificationError) {
    try compare("bundleId", signed: payload["bundleId"]?.string, envelope: bundleID)
    try compare("environment", signed: payload["environment"]?.string, envelope: environment?.rawValue)
    try compare(
      "originalTransactionId", signed: payload["originalTransactionId"]?.string, envelope: originalTransactionID)
  }

  private func compare(_ name: String, signed: String?, envelope: String?) throws(VerificationError) {
    guard let signed, let envelope, signed != envelope else { return }
    throw VerificationError(
      .contradictsEnvelope,
      "the answer says \(name) \(envelope.prefix(80)), what is signed in it says \(signed.prefix(80))")
  }
}
