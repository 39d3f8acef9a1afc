import HTTPServer
import Ledger

/// The answers to whoever sent too much of what nobody vouches for.
extension HTTPResponse {
  /// Nothing was stored; Apple, whose addresses have no such limit, would send it again.
  static var tooMuchJunk: Self {
    refused(
      "tooManyUnproven", after: 60,
      "too many unverified messages from this address; they are not kept for now"
    )
  }

  /// Nothing was stored, as above.
  static var claimedStockUsed: Self {
    refused(
      "claimedStockUsed", after: 3600,
      // plain:ok, the option's name
      "unverified V1 notifications of this app have used their daily quota; `serve --claimed-stock` sets it, and "
        + "`--trusted-proxy` names a proxy that passes on Apple's")
  }

  /// Nothing was stored: Apple could not be asked about it soon.
  static var tooManyUnverifiedIDs: Self {
    refused(
      "tooManyUnverifiedIds", after: 60,
      "\(HistoryJobTable.mostUnproven) ids that nothing proves wait to be asked about; send this again later, or send the receipt or "
        + "signed transaction instead")
  }

  /// Nothing was stored, as above.
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
