import Signing
import Simulator
import Time

/// What the benchmarks of receipts are fed with: three purchases each, every one different, signed as Apple signs.
struct ReceiptSamples: Sendable {
  static let app = SimulatedApp(name: "Bench", bundleID: "com.example.bench", appAppleID: 1_599_000_111)

  let pki: ReceiptPKI

  init() throws { pki = try ReceiptPKI.generate(at: NotificationSamples.start) }

  /// The base64 of each, and what was signed in it.
  func generate(_ count: Int) throws -> [(text: [UInt8], content: [UInt8])] {
    try (0..<count).map { try receipt($0) }
  }

  private static let product = Product.subscription("pro.monthly", group: "1", every: .months(1), price: 4_990)

  /// The base64 of the one of this number, and what was signed in it.
  func receipt(_ number: Int) throws -> (text: [UInt8], content: [UInt8]) {
    let receipt = SimulatedReceipt(
      of: Self.app, purchases: Self.periods(number, of: Self.app), createdAt: NotificationSamples.start)
    return (try receipt.encoded(signedBy: pki), receipt.content)
  }

  /// As the tables of a team have them: of three apps in turn, each in both environments, every tenth as iOS 6 made it.
  func varied(_ number: Int) throws -> (app: String, text: [UInt8]) {
    var app = Self.apps[number % Self.apps.count]
    app.environment = number / Self.apps.count % 2 == 0 ? .production : .sandbox
    let periods = Self.periods(number, of: app)
    let text =
      if number % 10 == 3 {
        try SimulatedTransactionReceipt(periods[2]).encoded(signedBy: pki.transactionSigner)
      } else {
        try SimulatedReceipt(of: app, purchases: periods, createdAt: NotificationSamples.start).encoded(signedBy: pki)
      }
    return (app.bundleID, text)
  }

  static let apps =
    [app]
    + ["second", "third"].enumerated().map { number, name in
      SimulatedApp(name: name, bundleID: "com.example.bench.\(name)", appAppleID: 1_599_000_112 + Int64(number))
    }

  /// Three months of a subscription.
  private static func periods(_ number: Int, of app: SimulatedApp) -> [SimulatedTransaction] {
    var ids = IdentifierSource(environment: app.environment, seed: 1, life: number)
    let customer = Customer(name: "", storefront: .germany, appTransactionID: ids.appTransactionID())
    var periods = (0..<3).map { month in
      SimulatedTransaction(
        of: product, by: customer, in: app, at: NotificationSamples.start - .days(30 * (4 - Int64(month))),
        ids: &ids)
    }
    for index in 1..<3 { periods[index].originalTransactionID = periods[0].transactionID }
    return periods
  }
}
