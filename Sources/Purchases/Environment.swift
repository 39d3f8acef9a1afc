/// The environment of a purchase, which no other environment knows.
public enum Environment: String, Hashable, Sendable, CaseIterable {
  case production = "Production"
  case sandbox = "Sandbox"
  /// StoreKit testing in Xcode, without Apple's signature.
  case xcode = "Xcode"
  case localTesting = "LocalTesting"
}

extension Environment: Comparable {
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
