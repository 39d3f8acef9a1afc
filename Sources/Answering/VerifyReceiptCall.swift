package import Ledger
package import Purchases

/// A request to verifyReceipt, as it came.
package struct VerifyReceiptCall: Sendable {
  package let body: [UInt8]
  /// Of the address that was asked.
  package let environment: Environment
  /// The app whose bearer token the request has, or whose client's certificate.
  package let tokensApp: App?
  /// Whether it comes from the operator's own networks.
  package let isOfBackEnd: Bool
  /// Whether it waits for no stranger's: the operator's own, or with a token; once it is known of which app it is, that app's.
  package private(set) var isNamed: Bool

  package init(body: [UInt8], environment: Environment, tokensApp: App? = nil, isOfBackEnd: Bool = false) {
    self.body = body
    self.environment = environment
    self.tokensApp = tokensApp
    self.isOfBackEnd = isOfBackEnd
    isNamed = isOfBackEnd || tokensApp != nil
  }

  /// The same as a request about this app: another app's token makes it nobody's.
  func about(_ app: App?) -> Self {
    guard let app else { return self }
    var call = self
    call.isNamed = isOfBackEnd || tokensApp == app
    return call
  }
}
