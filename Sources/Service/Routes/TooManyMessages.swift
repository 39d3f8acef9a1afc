import HTTPServer
import Ledger

extension HTTPResponse {
  /// A rejection without storage; Apple would resend, and its addresses have no such limit.
  static var tooMuchJunk: Self {
    refused(
      "tooManyUnproven", after: 60,
      "too many unverified messages from this address; they are not kept for now"
    )
  }

  /// A rejection without storage; Apple would resend.
  static var claimedStockUsed: Self {
    refused(
      "claimedStockUsed", after: 3600,
      // plain:ok, the option's name
      "unverified V1 notifications of this app have used their daily quota; `serve --claimed-stock` sets it, and "
        + "`--trusted-proxy` names a proxy that passes on Apple's")
  }

  /// A rejection without storage, because a lookup at Apple is not possible soon.
  static var tooManyUnverifiedIDs: Self {
    refused(
      "tooManyUnverifiedIds", after: 60,
      "\(HistoryJobTable.mostUnproven) ids that nothing proves wait to be asked about; send this again later, or send the receipt or "
        + "signed transaction instead")
  }

  /// A rejection without storage; Apple would resend.
  static var tooManyClaims: Self {
    refused(
      "tooManyClaims", after: 60,
      "too many V1 notifications from this address, which is not one of Apple's; send them again later, or name it: "
        + "`serve --trusted-proxy` or `--back-end-networks`")
  }

  private static func refused(_ code: String, after seconds: Int, _ detail: String) -> Self {
    var response = error(429, code, detail)
    response.headers.append("Retry-After", "\(seconds)")
    return response
  }
}
