import JSON
import Signing
import Simulator
import Time

/// What the fuzzers begin with: tokens and bodies made now, by a PKI that no later process knows.
struct JWSSeeds {
  private let pki: ApplePKI

  init() throws { pki = try ApplePKI.generate(at: Timestamp(1_767_225_600_000)) }

  /// Tokens, and JSON bodies with some of them.
  func all() throws -> (jws: [[UInt8]], json: [[UInt8]]) {
    let payloads: [JSONObject] = [
      ["bundleId": "a", "environment": "Sandbox", "signedDate": 1_767_225_600_000, "originalTransactionId": "1"],
      ["environment": "Production", "signedDate": 1_767_225_600_000, "autoRenewStatus": 1],
      ["receiptType": "Sandbox", "bundleId": "a", "receiptCreationDate": 1_767_225_600_000],
      ["environment": "Xcode", "bundleId": "a", "signedDate": 1_697_679_936_056],
    ]
    var tokens = try payloads.map(pki.sign)
    let nested = tokens.map { JSONValue.string(String(decoding: $0, as: UTF8.self)) }
    let data: JSONObject = [
      "bundleId": "a", "environment": "Sandbox", "appAppleId": 1, "signedTransactionInfo": nested[0],
      "signedRenewalInfo": nested[1],
    ]
    let notification: JSONObject = [
      "notificationType": "DID_RENEW", "notificationUUID": "x", "data": .object(data), "signedDate": 1_767_225_600_000,
    ]
    tokens.append(try pki.sign(notification))
    let all = payloads + [notification]
    let inputs =
      tokens.map { [0] + $0 } + all.map { [1] + $0.encoded() } + [[2] + pki.header.encoded()]
      + pki.certificates.map { [3] + $0 } + [[4], [4] + [UInt8](repeating: 0, count: 95) + [1]]

    let bodies = tokens.map { token -> JSONObject in
      ["signedPayload": .string(String(decoding: token, as: UTF8.self))]
    }
    let other = #"{"a":[1,-0,1e3,1.5e-7,9007199254740993,true,false,null,"\u00e9\ud83d\ude00\n"],"b":{"c":{}}}"#
    let texts = (bodies + all).map { $0.encoded() } + [Array(other.utf8)]
    return (inputs, texts)
  }
}
