import HTTPServer
import Ledger

/// The answers to whoever sent too much of what nobody vouches for.
extension HTTPResponse {
  /// Nothing was stored; Apple, whose addresses have no such limit, would send it again.
  static var tooMuchJunk: Self {
    var response = error(
      429, "tooManyUnproven", "too many messages of this address that nothing vouches for; none of them is kept for now"
    )
    response.headers.append("Retry-After", "60")
    return response
  }

  /// Nothing was stored, as above.
  static var claimedStockUsed: Self {
    var response = error(
      429, "claimedStockUsed",
      "strangers' V1 notifications of this app have used what is kept of them in a day; `serve --claimed-stock` is how much, and "
        + "`--trusted-proxy` names a proxy that passes on Apple's")
    response.headers.append("Retry-After", "3600")
    return response
  }

  /// Nothing was stored: Apple could not be asked about it soon.
  static var tooManyUnverifiedIDs: Self {
    var response = error(
      429, "tooManyUnverifiedIds",
      "\(WorkTable.mostUnproven) ids that nothing proves wait to be asked about; send this again later, or send the receipt or "
        + "signed transaction instead")
    response.headers.append("Retry-After", "60")
    return response
  }

  /// Nothing was stored, as above.
  static var tooManyClaims: Self {
    var response = error(
      429, "tooManyClaims",
      "too many V1 notifications of this address, which is none of Apple's; send them again later, or name it: "
        + "`serve --trusted-proxy` or `--back-end-networks`")
    response.headers.append("Retry-After", "60")
    return response
  }
}
