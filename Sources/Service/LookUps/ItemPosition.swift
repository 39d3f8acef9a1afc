import JSON
import Purchases
import Time

/// Where an item stands in a list of an answer: bytes that sort as the list does.
///
/// Made of what was bought and when, never of a number in the list: so it stays where it is while news comes in. Only what
/// Apple confirms moves from the claims to what is signed.
struct ItemPosition: Hashable, Comparable, Sendable {
  private(set) var bytes: [UInt8]

  init() { bytes = [] }

  /// As it was written into a cursor.
  init(bytes: [UInt8]) { self.bytes = bytes }

  static func < (a: Self, b: Self) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }

  mutating func append(_ number: Int64) {
    let ordered = UInt64(bitPattern: number) ^ (1 << 63)
    for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: ordered >> shift)) }
  }

  mutating func append(_ date: Timestamp) { append(date.sinceEpoch) }

  /// Bytes of any length: what is shorter comes first, and nothing that follows can change that.
  mutating func append(_ text: some Sequence<UInt8>) {
    for byte in text {
      bytes.append(byte)
      if byte == 0 { bytes.append(1) }
    }
    bytes += [0, 0]
  }

  mutating func append(_ text: String) { append(text.utf8) }

  /// Puts what nobody vouches for behind all that Apple does.
  private mutating func append(isClaimed: Bool) { bytes.append(isClaimed ? 1 : 0) }
}

extension ItemPosition {
  init(_ member: CustomerNode) {
    self.init()
    append(member.text)
  }

  /// By id, where nothing else orders a list.
  init(id: String) {
    self.init()
    append(id)
  }

  /// What is signed first, then by the time of purchase; what has none comes last.
  ///
  /// In each list what Apple vouches for comes first: whoever has the shared secret can claim as much as they like, and
  /// must not push anybody's purchases off the first page.
  init(_ purchase: Purchase) {
    self.init()
    append(isClaimed: purchase.isClaimed)
    append(purchase.purchaseDate ?? Timestamp(.max))
    append(purchase.key.originalTransactionID)
    append(purchase.key.line.text)
  }

  /// Claims last, then by date; what was told before what was learned, and then by authority, the latest word last.
  ///
  /// - Parameter purchase: the position of the purchase that an event was learned from.
  init(_ occurrence: MergedEvent, learnedFrom purchase: ItemPosition?) {
    self.init()
    let event = occurrence.event
    append(isClaimed: occurrence.isClaimed)
    append(event.date)
    if let purchase {
      append(1)
      bytes += purchase.bytes
      // Bought before taken back.
      append(["REFUND", "REVOKE"].contains(event.notificationType) ? 1 : 0)
      return
    }
    append(0)
    append(Int64(event.source.rawValue))
    append(event.rank.asOf)
    append(event.rank.tieBreak)
    append(event.message)
    append(event.name)
  }

  /// Claims last, then by the originalTransactionId and what was said of it first.
  init(_ attribution: AccountAssociation) {
    self.init()
    append(isClaimed: attribution.isClaimed)
    append(attribution.originalTransactionID)
    append(Int64(attribution.kind.rawValue))
    append(attribution.line.text)
    append(attribution.firstAsOf)
    append(attribution.value)
  }

  /// - Parameter repetition: how many equal ones come before it: two accounts may pass something to and fro at one time.
  init(_ transfer: AccountTransfer, repetition: Int64) {
    self.init()
    append(transfer.date)
    append(transfer.originalTransactionID)
    append(Int64(transfer.kind.rawValue))
    append(transfer.from)
    append(transfer.to)
    append(repetition)
  }
}

extension Purchase {
  /// Whether Apple vouches for nothing of it.
  var isClaimed: Bool { !statements.contains(where: \.source.isSigned) }
}

extension Event {
  /// What tells apart the events of one message, as they are ordered.
  fileprivate var name: [UInt8] {
    let words = [notificationUUID, notificationType, subtype, originalTransactionID, transactionID, line?.text, rule]
    return JSONValue.array(words.map { $0.map(JSONValue.string) ?? .null }).encoded()
  }
}
