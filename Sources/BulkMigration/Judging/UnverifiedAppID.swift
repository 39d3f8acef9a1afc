import JSON
import Signing

/// Of which app an artefact says it is, read without verifying anything: enough to look the app up, proven afterwards.
enum UnverifiedAppID {
  static func bundleID(ofMessage object: JSONObject) -> String? {
    let receipt = object["receipt"]?.object
    let named = [
      object["bid"], object["bundleId"], object["bundle_id"], receipt?["bundle_id"], receipt?["bid"],
      object["latest_receipt_info"]?.object?["bid"], object["latest_expired_receipt_info"]?.object?["bid"],
    ].lazy.compactMap { $0?.string }.first
    if let named { return named }
    for key in ["signedPayload", "signedTransactionInfo", "signedAppTransactionInfo", "signedRenewalInfo"] {
      if let jws = object[key]?.string { return bundleID(ofJWS: Array(jws.utf8)) }
    }
    return object["signedTransactions"]?.array?.first?.string.flatMap { bundleID(ofJWS: Array($0.utf8)) }
  }

  static func bundleID(ofJWS jws: [UInt8]) -> String? {
    let parts = jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64.url.decode(Array(parts[1])),
      let object = try? JSONReader.read(payload).object
    else { return nil }
    let inner = ["data", "summary", "externalPurchaseToken", "appData"].lazy.compactMap { object[$0]?.object }.first
    return (object["bundleId"] ?? inner?["bundleId"])?.string
  }
}
