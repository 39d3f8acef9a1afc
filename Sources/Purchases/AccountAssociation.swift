public import Time

/// The account of an originalTransactionId in a period of time.
///
/// An attribute, not a link: accounts are shared, and devices change owners.
public struct AccountAssociation: Hashable, Sendable {
  public enum Kind: Int, Hashable, Sendable, CaseIterable {
    /// The UUID that the app set at the purchase.
    case appAccountToken = 1
    /// The user's ID in the app's back end.
    case userID = 2

    public var name: String { "\(self)" }
  }

  public var kind: Kind
  public var value: String
  public var originalTransactionID: String
  /// The purchase of the statement.
  ///
  /// Empty for the whole originalTransactionId.
  public var line: Line
  /// The times of the first and the last statement.
  public var firstAsOf: Timestamp
  public var lastAsOf: Timestamp
  /// The SHA-256 of the last statement's message.
  public var message: [UInt8]
  /// Whether only unsigned data states it, which any holder of an old copy of the app can create.
  public var isClaimed: Bool

  public init(
    _ kind: Kind, _ value: String, of originalTransactionID: String, line: Line = Line(text: ""),
    from firstAsOf: Timestamp, to lastAsOf: Timestamp, message: [UInt8], isClaimed: Bool = false
  ) {
    self.kind = kind
    self.value = kind == .appAccountToken ? Alias.normalized(accountToken: value) : value
    self.originalTransactionID = originalTransactionID
    self.line = line
    self.firstAsOf = firstAsOf
    self.lastAsOf = lastAsOf
    self.message = message
    self.isClaimed = isClaimed
  }

  private struct Key: Hashable {
    var kind: Kind, value: ByteComparedText, original: String, line: Line, isClaimed: Bool
  }

  private struct Account: Hashable {
    var kind: Kind, value: ByteComparedText, original: String
  }

  private var account: Account { Account(kind: kind, value: ByteComparedText(value), original: originalTransactionID) }

  /// Returns each association once, over its whole period, regardless of order and repetition.
  ///
  /// A claim that only repeats proven data is omitted.
  public static func merged(_ attributions: [AccountAssociation]) -> [AccountAssociation] {
    // The order of a table, with one account for each purchase.
    if zip(attributions, attributions.dropFirst()).allSatisfy({ $0.isOfEarlierPurchase(than: $1) }) {
      return attributions
    }
    var known: [Key: AccountAssociation] = [:]
    for other in attributions {
      let key = Key(
        kind: other.kind, value: ByteComparedText(other.value), original: other.originalTransactionID, line: other.line,
        isClaimed: other.isClaimed)
      guard var merged = known[key] else {
        known[key] = other
        continue
      }
      merged.firstAsOf = min(merged.firstAsOf, other.firstAsOf)
      if merged.isToldBefore(other) {
        (merged.lastAsOf, merged.message) = (other.lastAsOf, other.message)
      }
      known[key] = merged
    }
    if attributions.contains(where: \.isClaimed) {
      let proven = Set(known.values.filter { !$0.isClaimed }.map(\.account))
      known = known.filter { !$0.key.isClaimed || !proven.contains($0.value.account) }
    }
    return known.values.sorted { a, b in
      let (first, second) = (
        (a.originalTransactionID, a.kind.rawValue, a.line, a.firstAsOf, ByteComparedText(a.value)),
        (b.originalTransactionID, b.kind.rawValue, b.line, b.firstAsOf, ByteComparedText(b.value))
      )
      return first != second ? first < second : !a.isClaimed && b.isClaimed
    }
  }

  /// Whether its purchase precedes the other's.
  private func isOfEarlierPurchase(than other: AccountAssociation) -> Bool {
    if originalTransactionID != other.originalTransactionID {
      return originalTransactionID < other.originalTransactionID
    }
    return (kind.rawValue, line) < (other.kind.rawValue, other.line)
  }

  private func isToldBefore(_ other: AccountAssociation) -> Bool {
    lastAsOf != other.lastAsOf
      ? lastAsOf < other.lastAsOf : message.lexicographicallyPrecedes(other.message)
  }
}

extension Findings {
  /// Attributes all purchases of the findings to the back end's user `userID`.
  ///
  /// For purchases that only unsigned data names it is a claim: a client can invent an unsigned response. For a seed
  /// without a purchase, or without a signed environment of it, the user ID waits.
  public mutating func attribute(toUser userID: String, asOf: Timestamp, message: [UInt8]) {
    let proven = provenOriginals
    let known = Set(originalTransactionIDs).subtracting(unplacedOriginals.subtracting(proven))
    userIDs += known.sorted().map { original in
      AccountAssociation(
        .userID, userID, of: original, from: asOf, to: asOf, message: message, isClaimed: !proven.contains(original))
    }
    waitingUserIDs += seeds.filter { !known.contains($0.transactionID) }.map { seed in
      PendingUserID(
        userID: userID, transactionID: seed.transactionID, environment: seed.environment, asOf: asOf, message: message)
    }
  }

  /// The accounts of the purchases: their tokens, and the user IDs that came with them.
  public var attributions: [AccountAssociation] {
    let tokens = purchases.compactMap { statement -> AccountAssociation? in
      guard let token = statement.facts.text(.appAccountToken), token != "" else { return nil }
      let asOf = statement.rank.asOf
      return AccountAssociation(
        .appAccountToken, token, of: statement.key.originalTransactionID, line: statement.key.line, from: asOf,
        to: asOf, message: statement.message, isClaimed: !isProven(statement.source))
    }
    return AccountAssociation.merged(tokens + userIDs)
  }
}
