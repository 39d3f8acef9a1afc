extension Attack {
  /// On what the payloads say, correctly signed.
  static let onClaims: [Attack] = [
    claims("Xcode's data", .unsignedTestData, ["environment": "Xcode"]),
    claims(
      "data of LocalTesting where Production is expected", .unsignedTestData,
      expecting: ExpectedClaims(environment: .only(.production)), ["environment": "LocalTesting"]),
    claims("an environment that nobody knows", .wrongEnvironment, ["environment": "Staging"]),
    claims(
      "Sandbox where Production is expected", .wrongEnvironment,
      expecting: ExpectedClaims(environment: .only(.production)), ["environment": "Sandbox"]),
    claims(
      "Production where only test data is expected", .wrongEnvironment,
      expecting: ExpectedClaims(environment: .unsignedTestData), [:]),
    claims(
      "another app's transaction", .wrongBundle, expecting: ExpectedClaims(bundleID: Bench.bundleID),
      ["bundleId": "com.example.other"]),
    claims("a date that is a text", .malformedClaim, ["signedDate": "2026-01-01"]),
    claims("a date before history", .malformedClaim, ["signedDate": .integer(.min)]),
    claims("a date after everything", .malformedClaim, ["signedDate": .integer(.max)]),
    claims("a bundle id that is a number", .malformedClaim, ["bundleId": 5]),
    payload("a payload of nothing known", .unexpectedKind, "{}"),
    Attack("a transaction signed as a renewal", .unexpectedKind) { try Bench.pki.sign(Bench.renewal) },
    claims(
      "no environment where only test data is expected", .missingClaim,
      expecting: ExpectedClaims(environment: .unsignedTestData), ["environment": nil]),
    Attack("a notification given as a transaction", .unexpectedKind) {
      try Bench.pki.sign(Bench.notification())
    },
  ]

  static let onNotifications: [Attack] = [
    Attack("a transaction given as a notification", .unexpectedKind) { try Bench.pki.sign(Bench.transaction) },
    notification("a notification about nothing", .missingClaim) { try Bench.notification(data: nil) },
    notification("a notification of no app", .missingClaim) {
      try Bench.notification(data: Bench.data.with(["bundleId": nil]))
    },
    notification("a notification of no environment", .missingClaim) {
      try Bench.notification(data: Bench.data.with(["environment": nil]))
    },
    notification(
      "a notification of no environment where one is expected", .missingClaim,
      expecting: ExpectedClaims(environment: .only(.production))
    ) { try Bench.notification(data: Bench.data.with(["environment": nil])) },
    notification("no app id in Production", .missingClaim, expecting: ExpectedClaims(appAppleID: Bench.appAppleID)) {
      try Bench.notification(data: Bench.data.with(["appAppleId": nil]))
    },
    notification("another app's id", .wrongAppAppleId, expecting: ExpectedClaims(appAppleID: Bench.appAppleID)) {
      try Bench.notification(data: Bench.data.with(["appAppleId": 7]))
    },
    notification(
      "another app's id in Sandbox", .wrongAppAppleId, expecting: ExpectedClaims(appAppleID: Bench.appAppleID)
    ) { try Bench.notification(data: Bench.data.with(["appAppleId": 7, "environment": "Sandbox"])) },
    notification("another app's notification", .wrongBundle, expecting: ExpectedClaims(bundleID: "com.example.other")) {
      try Bench.notification()
    },
    notification("data that is a text", .malformedClaim) { try Bench.notification(changed: ["data": "none"]) },
    notification("a nested transaction that is a number", .malformedClaim) {
      try Bench.notification(data: Bench.data.with(["signedTransactionInfo": 5]))
    },
    notification("a nested transaction of another app", .contradictsEnvelope) {
      try Bench.notification(transaction: Bench.transaction.with(["bundleId": "com.example.other"]))
    },
    notification("a nested transaction of another environment", .contradictsEnvelope) {
      try Bench.notification(transaction: Bench.transaction.with(["environment": "Sandbox"]))
    },
    notification("a nested renewal of another environment", .contradictsEnvelope) {
      try Bench.notification(renewal: Bench.renewal.with(["environment": "Sandbox"]))
    },
    notification("transaction and renewal of different subscriptions", .contradictsEnvelope) {
      try Bench.notification(
        transaction: Bench.transaction, renewal: Bench.renewal.with(["originalTransactionId": "2000000000000009"]))
    },
    notification("a renewal on the transaction's place", .unexpectedKind) {
      try Bench.notification(transaction: Bench.renewal)
    },
    notification("a transaction on the renewal's place", .unexpectedKind) {
      try Bench.notification(renewal: Bench.transaction)
    },
    notification("a nested transaction that a stranger signed", .unknownRoot) {
      try Bench.notification(Bench.stranger, transaction: Bench.transaction)
    },
    notification("a nested transaction of Xcode", .unsignedTestData) {
      try Bench.notification(transaction: Bench.transaction.with(["environment": "Xcode"]))
    },
    notification("a nested transaction signed before its certificates", .notValidAtSigning) {
      try Bench.notification(transaction: Bench.transaction.with(["signedDate": 1_577_836_800_000]))
    },
    notification("an app transaction of another app", .contradictsEnvelope) {
      let nested = Bench.text(try Bench.pki.sign(Bench.appTransaction.with(["appAppleId": 7])))
      return try Bench.notification(
        data: nil, changed: ["appData": .object(Bench.data.with(["signedAppTransactionInfo": nested]))])
    },
    notification(
      "a Sandbox token of external purchases in Production", .wrongEnvironment,
      expecting: ExpectedClaims(environment: .only(.production))
    ) {
      try Bench.notification(
        data: nil, changed: ["externalPurchaseToken": ["externalPurchaseId": "SANDBOX_1", "bundleId": "com.example"]])
    },
  ]

  private static func notification(
    _ name: String, _ code: VerificationError.Code, expecting expectation: ExpectedClaims = ExpectedClaims(),
    _ make: @escaping @Sendable () throws -> JSONObject
  ) -> Attack {
    Attack(name, code, expecting: expectation) { try Bench.pki.sign(make()) }
  }
}
