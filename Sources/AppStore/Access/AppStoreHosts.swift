/// Where Apple is: a URL without a path's end for each environment.
public struct AppStoreHosts: Sendable {
  private let api: [APIEnvironment: String]
  private let receipts: [APIEnvironment: String]

  public static let apple = Self(
    production: "https://api.storekit.apple.com", sandbox: "https://api.storekit-sandbox.apple.com",
    receipts: "https://buy.itunes.apple.com", sandboxReceipts: "https://sandbox.itunes.apple.com")

  /// Hosts of one's own: a proxy's, or the simulator's.
  public init(production: String, sandbox: String, receipts: String, sandboxReceipts: String) {
    func trimmed(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }
    api = [.production: trimmed(production), .sandbox: trimmed(sandbox)]
    self.receipts = [.production: trimmed(receipts), .sandbox: trimmed(sandboxReceipts)]
  }

  /// The simulator: Production at its base, the sandbox below `/sandbox`, both interfaces.
  public init(simulator base: String) {
    let base = base.hasSuffix("/") ? String(base.dropLast()) : base
    self.init(production: base, sandbox: "\(base)/sandbox", receipts: base, sandboxReceipts: "\(base)/sandbox")
  }

  func base(_ endpoint: Endpoint, _ environment: APIEnvironment) -> String {
    (endpoint == .verifyReceipt ? receipts[environment] : api[environment]) ?? ""
  }
}
