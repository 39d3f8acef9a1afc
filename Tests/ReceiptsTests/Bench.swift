/// A workbench for receipts and forgeries: one PKI per run, a reader that trusts it, purchases of every kind.
enum Bench {
  /// 2026-01-01T00:00:00Z.
  static let now = Timestamp(1_767_225_600_000)
  static let app = SimulatedApp(name: "Trails", bundleID: "com.example.trails", appAppleID: 1_234_567)

  static let pki = ReceiptPKI.known(at: now)
  /// Another of the same names, trusted by nobody.
  static let stranger = ReceiptPKI.stranger(at: now)
  static let reader = ReceiptReader(trust: trust)
  static let trust = make { ReceiptTrust(exactly: [try pki.trustedRoot()]) }

  /// Certificates below the trusted root that say something else.
  static func below(_ change: (inout ReceiptPKI.Blueprint) -> Void) throws -> ReceiptPKI {
    var blueprint = ReceiptPKI.Blueprint(at: now)
    change(&blueprint)
    return try .generate(below: pki.root, blueprint, keys: pki)
  }

  static let monthly = Product.subscription("pro.monthly", group: "1", every: .months(1), price: 4_990)
  static let coins = Product(.consumable, id: "coins.100", price: 990)
  static let forever = Product(.nonConsumable, id: "forever", price: 9_990)
  static let pass = Product(.nonRenewing, id: "season.pass", price: 19_990)

  /// A trial, its renewal, coins twice, an unlock and a pass.
  static let transactions: [SimulatedTransaction] = {
    var ids = IdentifierSource(environment: .sandbox, seed: 7, life: 1)
    let customer = Customer(name: "Ada", storefront: .unitedStates, appTransactionID: ids.appTransactionID())
    func buy(_ product: Product, _ day: Int64, _ offer: Offer? = nil) -> SimulatedTransaction {
      SimulatedTransaction(of: product, by: customer, in: app, at: now - .days(day), offer: offer, ids: &ids)
    }
    let trial = buy(monthly, 60, .freeTrial(.weeks(1)))
    var renewal = buy(monthly, 53)
    renewal.originalTransactionID = trial.originalTransactionID
    renewal.originalPurchaseDate = trial.purchaseDate
    var refunded = buy(coins, 20)
    refunded.revocation = Revocation(at: now - .days(19), .refundFull)
    return [trial, renewal, buy(coins, 30), refunded, buy(forever, 10), buy(pass, 5)]
  }()

  static let receipt = SimulatedReceipt(of: app, purchases: transactions, createdAt: now)

  static func message(_ content: [UInt8] = receipt.content, _ hash: SignatureHash = .sha256) -> SignedReceiptMessage {
    SignedReceiptMessage(content: content, hash: hash)
  }

  private static func make<Made>(_ body: () throws -> Made) -> Made {
    do { return try body() } catch { preconditionFailure("no workbench: \(error)") }
  }
}

extension Bench {
  /// A refusal with this code, to be compared.
  static func refusal(_ code: ReceiptError.Code) -> ReceiptError { ReceiptError(code, "") }
}
