/// Where a purchase was made; a purchase of one environment is never known in another.
public enum Environment: String, Hashable, Sendable, CaseIterable {
  case production = "Production"
  case sandbox = "Sandbox"
  /// StoreKit testing in Xcode: signed by nobody we know.
  case xcode = "Xcode"
  case localTesting = "LocalTesting"
}

extension Environment: Comparable {
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
