/// The environment of a purchase, under Apple's documented names.
public enum AppStoreEnvironment: String, Hashable, Sendable, CaseIterable {
  case production = "Production"
  case sandbox = "Sandbox"
  /// StoreKit testing in Xcode, signed by Xcode's own certificate.
  case xcode = "Xcode"
  /// StoreKit testing without Xcode, by Apple's name for it.
  case localTesting = "LocalTesting"

  package var isSignedByApple: Bool {
    switch self {
    case .production, .sandbox: true
    case .xcode, .localTesting: false
    }
  }
}
