public import JSON
public import Time

/// The purchase of the app itself, as signedAppTransactionInfo decodes; receiptType is its environment.
///
/// Apple: storekit/apptransaction.
public struct AppTransactionPayload: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var receiptType: String? { text("receiptType") }
  public var appAppleId: Int64? { integer("appAppleId") }
  public var bundleId: String? { text("bundleId") }
  public var applicationVersion: String? { text("applicationVersion") }
  public var versionExternalIdentifier: Int64? { integer("versionExternalIdentifier") }
  public var receiptCreationDate: Timestamp? { date("receiptCreationDate") }
  public var originalPurchaseDate: Timestamp? { date("originalPurchaseDate") }
  public var originalApplicationVersion: String? { text("originalApplicationVersion") }
  public var deviceVerification: String? { text("deviceVerification") }
  public var deviceVerificationNonce: String? { text("deviceVerificationNonce") }
  public var preorderDate: Timestamp? { date("preorderDate") }
  public var appTransactionId: String? { text("appTransactionId") }
  public var originalPlatform: String? { text("originalPlatform") }

  public static let schema = Schema([
    "receiptType": .word(DocumentedValues.appStoreEnvironment),
    "appAppleId": .integer,
    "bundleId": .text,
    "applicationVersion": .text,
    "versionExternalIdentifier": .integer,
    "receiptCreationDate": .date,
    "originalPurchaseDate": .date,
    "originalApplicationVersion": .text,
    "deviceVerification": .text,
    "deviceVerificationNonce": .text,
    "preorderDate": .date,
    "appTransactionId": .text,
    "originalPlatform": .word(DocumentedValues.purchasePlatform),
  ])
}
