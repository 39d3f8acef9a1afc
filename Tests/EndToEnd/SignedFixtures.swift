/// What Apple might sign, signed by a PKI made for this run.
struct SignedFixtures {
  static let bundleID = "com.example.switch"
  static let appAppleID: Int64 = 123_456_789
  static let signedAt: Int64 = 1_790_000_000_000

  let pki: ApplePKI

  init(_ pki: ApplePKI? = nil) throws { self.pki = try pki ?? ApplePKI.generate(at: Timestamp(Self.signedAt)) }

  var transaction: JSONObject {
    [
      "transactionId": "2000000000000001", "originalTransactionId": "2000000000000001",
      "bundleId": .string(Self.bundleID),
      "webOrderLineItemId": "2000000000000077", "productId": "com.example.switch.monthly",
      "purchaseDate": 1_789_999_000_000, "originalPurchaseDate": 1_789_999_000_000, "expiresDate": 1_792_591_000_000,
      "quantity": 1, "type": "Auto-Renewable Subscription", "inAppOwnershipType": "PURCHASED",
      "signedDate": .integer(Self.signedAt), "environment": "Sandbox", "transactionReason": "PURCHASE",
      "storefront": "USA", "storefrontId": "143441", "price": 9990, "currency": "USD",
    ]
  }

  var renewal: JSONObject {
    [
      "originalTransactionId": "2000000000000001", "autoRenewProductId": "com.example.switch.monthly",
      "productId": "com.example.switch.monthly", "autoRenewStatus": 1, "signedDate": .integer(Self.signedAt),
      "environment": "Sandbox", "renewalDate": 1_792_591_000_000,
    ]
  }

  func notification(
    type: String = "SUBSCRIBED", uuid: String = "2f1c6f9e-0000-4000-8000-000000000001", environment: String = "Sandbox"
  ) throws -> JSONObject {
    var transaction = transaction
    var renewal = renewal
    transaction["environment"] = .string(environment)
    renewal["environment"] = .string(environment)
    return [
      "notificationType": .string(type), "subtype": "INITIAL_BUY", "notificationUUID": .string(uuid), "version": "2.0",
      "signedDate": .integer(Self.signedAt),
      "data": [
        "appAppleId": .integer(Self.appAppleID), "bundleId": .string(Self.bundleID),
        "environment": .string(environment), "signedTransactionInfo": .string(try jws(transaction)),
        "signedRenewalInfo": .string(try jws(renewal)), "status": 1,
      ],
    ]
  }

  func jws(_ payload: JSONObject) throws -> String { String(decoding: try pki.sign(payload), as: UTF8.self) }

  /// The body that Apple would post.
  func body(_ payload: JSONObject) throws -> [UInt8] {
    (["signedPayload": .string(try jws(payload))] as JSONObject).encoded()
  }

  /// The root, in a file for `--root` and `--trust-root`.
  func root(in directory: TemporaryDirectory) -> String { directory.file("root.der", pki.root.certificate.der) }
}

/// A `.p8` key of nobody's, made for this run.
enum SigningKeyFile {
  static func pem() throws -> [UInt8] { try SigningKey.generate().privateKey.pem() }
}
