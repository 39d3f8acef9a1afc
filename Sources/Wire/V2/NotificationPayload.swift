public import JSON
public import Time

/// The body of a notification: the one thing in it is signed.
///
/// Apple: appstoreservernotifications/responsebodyv2.
public struct ResponseBodyV2: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var signedPayload: String? { text("signedPayload") }

  public static let schema = Schema([
    "signedPayload": .text
  ])
}

/// A notification, as its signedPayload decodes.
///
/// Exactly one of data, summary, externalPurchaseToken and appData is there. Apple: appstoreservernotifications/responsebodyv2decodedpayload.
public struct NotificationPayload: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var notificationType: String? { text("notificationType") }
  public var subtype: String? { text("subtype") }
  public var notificationUUID: String? { text("notificationUUID") }
  public var data: NotificationData? { structure("data") }
  public var version: String? { text("version") }
  public var signedDate: Timestamp? { date("signedDate") }
  public var summary: NotificationSummary? { structure("summary") }
  public var externalPurchaseToken: ExternalPurchaseToken? { structure("externalPurchaseToken") }
  public var appData: AppData? { structure("appData") }

  public static let schema = Schema([
    "notificationType": .word(DocumentedValues.notificationTypeV2),
    "subtype": .word(DocumentedValues.subtype),
    "notificationUUID": .text,
    "data": .structure(NotificationData.schema),
    "version": .text,
    "signedDate": .date,
    "summary": .structure(NotificationSummary.schema),
    "externalPurchaseToken": .structure(ExternalPurchaseToken.schema),
    "appData": .structure(AppData.schema),
  ])
}

/// What most notifications carry: the app, and the signed transaction and renewal.
///
/// Apple: appstoreservernotifications/data.
public struct NotificationData: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var environment: String? { text("environment") }
  public var appAppleId: Int64? { integer("appAppleId") }
  public var bundleId: String? { text("bundleId") }
  public var bundleVersion: String? { text("bundleVersion") }
  public var signedTransactionInfo: String? { text("signedTransactionInfo") }
  public var signedRenewalInfo: String? { text("signedRenewalInfo") }
  public var status: Int64? { integer("status") }
  public var consumptionRequestReason: String? { text("consumptionRequestReason") }

  public static let schema = Schema([
    "environment": .word(DocumentedValues.appStoreEnvironment),
    "appAppleId": .integer,
    "bundleId": .text,
    "bundleVersion": .text,
    "signedTransactionInfo": .text,
    "signedRenewalInfo": .text,
    "status": .code(1...5),
    "consumptionRequestReason": .word(DocumentedValues.consumptionRequestReason),
  ])
}

/// The outcome of a mass renewal extension.
///
/// Apple: appstoreservernotifications/summary.
public struct NotificationSummary: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var environment: String? { text("environment") }
  public var appAppleId: Int64? { integer("appAppleId") }
  public var bundleId: String? { text("bundleId") }
  public var productId: String? { text("productId") }
  public var requestIdentifier: String? { text("requestIdentifier") }
  public var storefrontCountryCodes: [String]? { texts("storefrontCountryCodes") }
  public var succeededCount: Int64? { integer("succeededCount") }
  public var failedCount: Int64? { integer("failedCount") }

  public static let schema = Schema([
    "environment": .word(DocumentedValues.appStoreEnvironment),
    "appAppleId": .integer,
    "bundleId": .text,
    "productId": .text,
    "requestIdentifier": .text,
    "storefrontCountryCodes": .texts,
    "succeededCount": .integer,
    "failedCount": .integer,
  ])
}

/// A token of an external purchase, unreported or created.
///
/// Apple: appstoreservernotifications/externalpurchasetoken.
public struct ExternalPurchaseToken: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var externalPurchaseId: String? { text("externalPurchaseId") }
  public var tokenCreationDate: Timestamp? { date("tokenCreationDate") }
  public var appAppleId: Int64? { integer("appAppleId") }
  public var bundleId: String? { text("bundleId") }
  public var tokenType: String? { text("tokenType") }
  public var tokenExpirationDate: Timestamp? { date("tokenExpirationDate") }

  public static let schema = Schema([
    "externalPurchaseId": .text,
    "tokenCreationDate": .date,
    "appAppleId": .integer,
    "bundleId": .text,
    "tokenType": .text,
    "tokenExpirationDate": .date,
  ])
}

/// The app transaction that a withdrawn consent is about.
///
/// Apple: appstoreservernotifications/appdata.
public struct AppData: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var appAppleId: Int64? { integer("appAppleId") }
  public var bundleId: String? { text("bundleId") }
  public var environment: String? { text("environment") }
  public var signedAppTransactionInfo: String? { text("signedAppTransactionInfo") }

  public static let schema = Schema([
    "appAppleId": .integer,
    "bundleId": .text,
    "environment": .word(DocumentedValues.appStoreEnvironment),
    "signedAppTransactionInfo": .text,
  ])
}
