/// Where a purchase was made, in Apple's words; a value that Apple does not document is no environment.
public enum AppStoreEnvironment: String, Hashable, Sendable, CaseIterable {
  case production = "Production"
  case sandbox = "Sandbox"
  /// StoreKit testing in Xcode: signed by a certificate that Xcode makes for itself.
  case xcode = "Xcode"
  /// StoreKit testing without Xcode, by Apple's name for it.
  case localTesting = "LocalTesting"

  /// Whether Apple itself signs data of this environment.
  package var isSignedByApple: Bool {
    switch self {
    case .production, .sandbox: true
    case .xcode, .localTesting: false
    }
  }
}
