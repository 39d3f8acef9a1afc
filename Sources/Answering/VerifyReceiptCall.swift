package import Ledger
package import Purchases

package struct VerifyReceiptCall: Sendable {
  package let body: [UInt8]
  package let environment: Environment
  /// The app of the request's bearer token, or of its client's certificate.
  package let tokensApp: App?
  /// Whether it comes from the operator's own networks.
  package let isOfBackEnd: Bool
  /// Whether it waits for no stranger's: the operator's own, or with a token, which must be the request's app's once
  /// known.
  package private(set) var isNamed: Bool

  package init(body: [UInt8], environment: Environment, tokensApp: App? = nil, isOfBackEnd: Bool = false) {
    self.body = body
    self.environment = environment
    self.tokensApp = tokensApp
    self.isOfBackEnd = isOfBackEnd
    isNamed = isOfBackEnd || tokensApp != nil
  }

  /// Returns the request for this app; another app's token no longer counts.
  func about(_ app: App?) -> Self {
    guard let app else { return self }
    var call = self
    call.isNamed = isOfBackEnd || tokensApp == app
    return call
  }
}
