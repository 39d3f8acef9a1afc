/// The fields of a customer's purchase of the app.
///
/// Apple: AppTransaction.
public enum AppTransactionField: Int, FactField {
  case appTransactionId, appAppleId, applicationVersion, originalApplicationVersion, originalPurchaseDate, preorderDate,
    originalPlatform, versionExternalIdentifier

  public var kind: FactKind {
    switch self {
    case .appTransactionId, .applicationVersion, .originalApplicationVersion, .originalPlatform: .text
    case .appAppleId, .versionExternalIdentifier: .integer
    case .originalPurchaseDate, .preorderDate: .date
    }
  }

  public static let names = FieldNames(allCases.map { "\($0)" })
}

/// One customer's purchase or download of one app.
public struct AppTransactionKey: Hashable, Sendable {
  public var app: String
  public var environment: Environment
  public var appTransactionID: String

  public init(app: String, environment: Environment, appTransactionID: String) {
    self.app = app
    self.environment = environment
    self.appTransactionID = appTransactionID
  }
}

public typealias AppTransactionStatement = Statement<AppTransactionKey, AppTransactionField>
