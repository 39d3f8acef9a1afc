public import Purchases
public import Time

/// What a receipt says, of either kind; nothing here says that it is true.
public enum Receipt: Hashable, Sendable {
  /// Of the app, with all its purchases.
  case app(AppReceipt)
  /// Of one transaction.
  case transaction(TransactionReceipt)

  public var bundleID: String? {
    switch self {
    case .app(let receipt): receipt.bundleID
    case .transaction(let receipt): receipt.bundleID
    }
  }

  /// The environment that is signed; nil for a transaction, which signs none, and for an app receipt of a type that this
  /// build does not know.
  public var environment: Environment? {
    switch self {
    case .app(let receipt): receipt.environment
    case .transaction: nil
    }
  }

  /// The environment that it names: the signed one, else what the unsigned part of a transaction says.
  ///
  /// Anybody can write or remove the latter, so it never proves an environment; it can only contradict one.
  public var claimedEnvironment: Environment? {
    switch self {
    case .app(let receipt): receipt.environment
    case .transaction(let receipt): receipt.claimedEnvironment
    }
  }

  /// The date at which its signature counts: attribute 12, or the purchase of the one transaction.
  public var signedAt: Timestamp? {
    switch self {
    case .app(let receipt): receipt.createdAt
    case .transaction(let receipt): receipt.purchaseDate
    }
  }

  /// By which Apple's history can be asked: each once, in the order of the receipt, without "" and "0".
  ///
  /// All of them and not one: consumables have an id each, and one of several may be unknown to an environment.
  public var originalTransactionIDs: [String] {
    switch self {
    case .app(let receipt):
      var seen: Set<String> = []
      return receipt.purchases.compactMap(\.originalIdentity).filter { seen.insert($0).inserted }
    case .transaction(let receipt): return receipt.originalIdentity.map { [$0] } ?? []
    }
  }

  var isOfXcode: Bool {
    switch self {
    case .app(let receipt): receipt.environment == .xcode
    case .transaction: false
    }
  }
}
