import JSON
import Purchases
import Signing
import Time
import Wire

/// Maps payloads to statements, with fields under Apple's V2 names.
struct StatementMapping {
  let message: Digest
  /// Whether Xcode's "0" and an app transaction without an ID are accepted, for inspection, never for storage.
  var takesTestIdentities = false

  /// Maps a transaction to a statement about a purchase in `environment`, its own or its envelope's.
  ///
  /// - Parameter envelope: the app of a transaction without one; nil if it is unverified.
  func purchase(
    _ verified: some DatedPayload, of envelope: String?, in environment: Environment, isReversal: Bool = false
  ) throws(MessageError) -> PurchaseStatement {
    let payload = TransactionPayload(verified.payload)
    let facts = Facts<PurchaseField>(stated: verified.payload)
    guard let app = payload.bundleId ?? envelope, let original = identity(facts.text(.originalTransactionId)) else {
      throw MessageError(
        .authentic, .missingIdentity, "a transaction without bundleId or originalTransactionId",
        claimedApp: payload.bundleId)
    }
    let line = Line(
      webOrderLineItemID: facts.text(.webOrderLineItemId), purchaseDate: facts.date(.purchaseDate),
      isSubscription: facts.isSubscription)
    return PurchaseStatement(
      key: PurchaseKey(app: app, environment: environment, originalTransactionID: original, line: line),
      source: .signedV2, rank: Self.counting(facts, try rank(verified, facts, app), isReversal), facts: facts,
      message: message.bytes)
  }

  /// Ranks a refund a minute later, because data signed within this minute may lack it and would reverse it.
  ///
  /// REFUND_REVERSED does reverse it.
  private static func counting(_ facts: Facts<PurchaseField>, _ rank: Rank, _ isReversal: Bool) -> Rank {
    guard let refunded = facts.date(.revocationDate) ?? (isReversal ? rank.asOf : nil) else { return rank }
    var rank = rank
    rank.asOf = max(rank.asOf, min(refunded, rank.asOf) + UnconfirmedChange.lag)
    return rank
  }

  /// Maps a renewal to a statement; it names no app itself, so `app` is its envelope's.
  func renewal(
    _ verified: some DatedPayload, app: String, in environment: Environment
  ) throws(MessageError) -> RenewalStatement {
    let facts = Facts<RenewalField>(stated: verified.payload)
    guard let original = identity(facts.text(.originalTransactionId)) else {
      throw MessageError(.authentic, .missingIdentity, "a renewal without originalTransactionId", claimedApp: app)
    }
    return RenewalStatement(
      key: SubscriptionKey(app: app, environment: environment, originalTransactionID: original), source: .signedV2,
      rank: try rank(verified, facts, app), facts: facts, message: message.bytes)
  }

  /// Maps an app transaction to a statement; `nil` for one made before Apple introduced its ID.
  func appTransaction(
    _ verified: some DatedPayload, in environment: Environment
  ) throws(MessageError) -> AppTransactionStatement? {
    let payload = AppTransactionPayload(verified.payload)
    let facts = Facts<AppTransactionField>(stated: verified.payload)
    let missing = takesTestIdentities ? "" : nil
    guard let app = payload.bundleId, let id = identity(facts.text(.appTransactionId)) ?? missing else { return nil }
    return AppTransactionStatement(
      key: AppTransactionKey(app: app, environment: environment, appTransactionID: id), source: .signedV2,
      rank: try rank(verified, facts, app), facts: facts, message: message.bytes)
  }

  /// Xcode writes "0" for a missing ID.
  private func identity(_ id: String?) -> String? { !takesTestIdentities && (id == "" || id == "0") ? nil : id }

  /// Ranks by the payload's date, then its content, then its message, which gives the same order to every reader.
  private func rank<Field>(
    _ verified: some DatedPayload, _ facts: Facts<Field>, _ app: String
  ) throws(MessageError) -> Rank {
    guard let signedAt = verified.signedAt else {
      throw MessageError(.authentic, .missingSignedDate, "a signed payload without signedDate", claimedApp: app)
    }
    return Rank(asOf: signedAt, facts, in: message)
  }
}

extension Rank {
  /// Ranks a revocation later than another statement of the same date, because Apple signs to the second.
  init<Field>(asOf: Timestamp, _ facts: Facts<Field>, in message: Digest) {
    let isRevoked = (facts as? Facts<PurchaseField>)?[.revocationDate] != nil
    self.init(
      asOf: asOf,
      tieBreak: [isRevoked ? 1 : 0] + Digest.sha256(facts.encoded()).bytes.prefix(7) + message.bytes.prefix(8))
  }
}
